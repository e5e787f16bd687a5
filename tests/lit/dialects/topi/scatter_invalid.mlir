// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @negative(%x: tensor<4xf32>) {
  // expected-error@below {{[topi.scatter C1] extent -1 is negative}}
  %r = topi.scatter "s" [%i : -1] add into %x : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %i, %v : index, f32
  }
  func.return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error@below {{[topi.scatter C1] body takes (), not 1 variables}}
  %r = "topi.scatter"(%x) <{label = "s", extents = array<i64: 4>, combine = #topi.combine add}> ({
    %i = arith.constant 0 : index
    %v = arith.constant 0.0 : f32
    topi.yield %i, %v : index, f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @result(%x: tensor<4xf32>) {
  // expected-error@below {{[topi.scatter C2] result tensor<5xf32> differs from tensor tensor<4xf32>}}
  %r = "topi.scatter"(%x) <{label = "s", extents = array<i64: 4>, combine = #topi.combine add}> ({
  ^bb0(%i: index):
    %v = arith.constant 0.0 : f32
    topi.yield %i, %v : index, f32
  }) : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @place(%x: tensor<4x4xf32>) {
  // expected-error@below {{[topi.scatter C3] body yields [index, f32], an update of tensor<4x4xf32> needs [index, index, f32]}}
  %r = topi.scatter "s" [%i : 4] add into %x : tensor<4x4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %i, %v : index, f32
  }
  func.return
}

// -----

func.func @booleans(%x: tensor<4xi1>) {
  // expected-error@below {{[topi.scatter C4]}}
  %r = topi.scatter "s" [%i : 4] mul into %x : tensor<4xi1> {
    %v = arith.constant true
    topi.yield %i, %v : index, i1
  }
  func.return
}

// -----

func.func @outside(%x: tensor<4xf32>) {
  // expected-error@below {{[topi.scatter C5] index 0 runs from 0 to 4, outside of tensor<4xf32>}}
  %r = topi.scatter "s" [%i : 5] update into %x : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %i, %v : index, f32
  }
  func.return
}
