// RUN: xrelay-opt %s -p convert-math-to-llvm --verify-diagnostics

func.func @erf(%x: f64) -> f64 {
  // expected-error@+1 {{failed to convert math.erf: nothing converts this op here}}
  %0 = math.erf %x : f64
  func.return %0 : f64
}
