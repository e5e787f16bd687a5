// RUN: sh %S/Inputs/exit_code.sh 1 xrelay-opt %s --verify-diagnostics 2>&1 | filecheck %s
// An error in a file without expectations.

// CHECK: unexpected.mlir:6:3: error: unexpected error: operation arith.nothing is not registered
func.func @main(%a: i32) {
  arith.nothing %a : i32
  func.return
}
