// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<2x8xf32>, %n: tensor<2xi32>) {
  // expected-error@below {{[relay.sequence_mask C1]}}
  %r = relay.sequence_mask(%x, %n) {axis = 2} : (tensor<2x8xf32>, tensor<2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @lengths(%x: tensor<2x8xf32>, %n: tensor<2xi32>) {
  // expected-error@below {{[relay.sequence_mask C2] valid_length must be a vector of 8 numbers, found tensor<2xi32>}}
  %r = relay.sequence_mask(%x, %n) : (tensor<2x8xf32>, tensor<2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @order(%x: tensor<3x4xf32>, %d: tensor<3xf32>) {
  // expected-error@below {{[relay.matrix_set_diag C2]}}
  %r = relay.matrix_set_diag(%x, %d) {k1 = 1} : (tensor<3x4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @rows(%x: tensor<3x4xf32>, %d: tensor<3xf32>) {
  // expected-error@below {{[relay.matrix_set_diag C3] diagonals of (3, 4) have shape (2, 3), found (3)}}
  %r = relay.matrix_set_diag(%x, %d) {k2 = 1} : (tensor<3x4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matrices(%a: tensor<3x4xf32>) {
  %t = relay.tuple(%a) : (tensor<3x4xf32>) -> tuple<tensor<3x4xf32>>
  // expected-error@below {{[relay.meshgrid C2] a tuple of vectors of one element type is expected, found tuple<tensor<3x4xf32>>}}
  %r = relay.meshgrid(%t) : (tuple<tensor<3x4xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_vector(%x: tensor<2x2xi32>) {
  // expected-error@below {{[relay.invert_permutation C1] a permutation is a vector, found tensor<2x2xi32>}}
  %r = relay.invert_permutation(%x) : (tensor<2x2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @unknown_rank(%x: tensor<5xi64>, %s: tensor<?xi64>) {
  // expected-error@below {{[relay.unravel_index C2] the shape must be a vector of known length, 64 at most, found tensor<?xi64>}}
  %r = relay.unravel_index(%x, %s) : (tensor<5xi64>, tensor<?xi64>) -> !relay.incomplete
  func.return
}
