// RUN: xrelay-opt %s -p convert-scf-parallel-to-calls --split-input-file --verify-diagnostics

func.func @sum(%init: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{reductions across the iterations of a parallel loop are not supported}}
  %r = "scf.parallel"(%c0, %c1, %c1, %init) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    %x = arith.constant 1.0 : f32
    scf.reduce(%x : f32) {
    ^bb1(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }) : (index, index, index, f32) -> f32
  func.return
}

// -----

func.func @two_dimensions() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{a loop of several dimensions, or around another parallel loop, is not supported}}
  "scf.parallel"(%c0, %c0, %c1, %c1, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  func.return
}
