// RUN: xrelay-opt %s -p convert-arith-to-llvm --verify-diagnostics

func.func @extended(%a: i32) -> i32 {
  // expected-error@+1 {{failed to convert arith.mului_extended: no pattern converts the op}}
  %low, %high = arith.mului_extended %a, %a : i32
  func.return %low : i32
}
