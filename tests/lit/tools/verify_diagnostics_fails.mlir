// RUN: not xrelay-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s
// An expectation without an error, an error without an expectation, and an unknown kind of expectation.

// CHECK: fails.mlir:6: error: expected error was not produced: never happens
// CHECK-NEXT: fails.mlir:12:3: error: unexpected error: operation arith.nothing is not registered
func.func private @fine(i32) // expected-error {{never happens}}

// -----

// CHECK-NOT: error
func.func @syntax(%a: i32) {
  %c = arith.nothing %a : i32
  func.return
}
