// RUN: xrelay-opt %s -p convert-math-to-llvm --verify-diagnostics --split-input-file

func.func @erf(%x: f16) -> f16 {
  // expected-error@+1 {{failed to convert math.erf: the C library has no such function on f16}}
  %0 = math.erf %x : f16
  func.return %0 : f16
}

// -----

func.func @fpowi(%x: f64, %n: i32) -> f64 {
  // expected-error@+1 {{failed to convert math.fpowi: no pattern converts the op}}
  %0 = math.fpowi %x, %n : f64, i32
  func.return %0 : f64
}
