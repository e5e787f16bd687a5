// RUN: xrelay-opt %s --split-input-file --verify-diagnostics
// RUN: not xrelay-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: verify_diagnostics.mlir:7:3: error: arith.addi uses %b, whose definition (defined at {{.*}}verify_diagnostics.mlir:8:3)
func.func @use_before_definition(%a: i32) -> i32 {
  // expected-error@below {{arith.addi uses %b}}
  %c = arith.addi %b, %a : i32
  %b = arith.addi %a, %a : i32
  func.return %c : i32
}

// -----

func.func @syntax(%a: i32) {
  // expected-error@+1 {{operation arith.nothing is not registered}}
  %c = arith.nothing %a : i32
  func.return
}

// -----

func.func @no_terminator(%a: i32) {} // expected-error {{is empty}}
