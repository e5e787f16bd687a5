// RUN: xrelay-opt %s -p convert-cf-to-llvm --verify-diagnostics

func.func @switch(%i: i32) {
  // expected-error@+1 {{failed to convert cf.switch: no pattern converts the op}}
  cf.switch %i : i32, [
    default: ^end
  ]
^end:
  func.return
}
