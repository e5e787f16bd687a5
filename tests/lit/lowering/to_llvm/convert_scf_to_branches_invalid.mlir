// RUN: xrelay-opt %s -p convert-scf-to-branches --split-input-file --verify-diagnostics

func.func @parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{failed to convert scf.parallel: no pattern converts the op}}
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

func.func @loop() {
  // expected-error@+1 {{failed to convert loop.for: no pattern converts the op; help: run convert-loop-to-scf before}}
  loop.for "i" %i to 4 {
  }
  func.return
}
