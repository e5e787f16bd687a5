// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @more_axes(%x: tensor<2x4xf32>, %l: tensor<4xf32>) {
  // expected-error@below {{[relay.broadcast_to_like C1] shape (2, 4) does not broadcast to (4)}}
  %r = relay.broadcast_to_like(%x, %l) : (tensor<2x4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @another_extent(%x: tensor<2x4xf32>, %l: tensor<2x1xf32>) {
  // expected-error@below {{[relay.broadcast_to_like C1] shape (2, 4) does not broadcast to (2, 1)}}
  %r = relay.broadcast_to_like(%x, %l) : (tensor<2x4xf32>, tensor<2x1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_part(%x: tensor<2x4xf32>, %l: tensor<8xf32>) {
  // expected-error@below {{[relay.reshape_like C1] axes 1 to 3 are out of range of (2, 4)}}
  %r = relay.reshape_like(%x, %l) {lhs_begin = 1, lhs_end = 3} : (tensor<2x4xf32>, tensor<8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @ends_before_it_begins(%x: tensor<2x4xf32>, %l: tensor<8xf32>) {
  // expected-error@below {{[relay.reshape_like C1] axes 1 to 0 are out of range of (8)}}
  %r = relay.reshape_like(%x, %l) {rhs_begin = 1, rhs_end = -1} : (tensor<2x4xf32>, tensor<8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @other_counts(%x: tensor<2x4xf32>, %l: tensor<3x3xf32>) {
  // expected-error@below {{[relay.reshape_like C2]}}
  %r = relay.reshape_like(%x, %l) : (tensor<2x4xf32>, tensor<3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @another_rank(%x: tensor<2x4xf32>, %l: tensor<2xf32>) {
  // expected-error@below {{[relay.slice_like C1] axes [1] of data (2, 4) are not all axes of (2)}}
  %r = relay.slice_like(%x, %l) {axes = [1]} : (tensor<2x4xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @too_short(%x: tensor<2x4xf32>, %l: tensor<2x5xf32>) {
  // expected-error@below {{[relay.slice_like C2]}}
  %r = relay.slice_like(%x, %l) {axes = [-1]} : (tensor<2x4xf32>, tensor<2x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_broadcast(%x: tensor<2x4xf32>, %l: tensor<3x1xf32>) {
  // expected-error@below {{[relay.collapse_sum_like C2] shape (3, 1) does not broadcast to (2, 4)}}
  %r = relay.collapse_sum_like(%x, %l) : (tensor<2x4xf32>, tensor<3x1xf32>) -> !relay.incomplete
  func.return
}
