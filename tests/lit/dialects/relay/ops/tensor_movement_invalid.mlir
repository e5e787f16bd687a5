// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @slice_counts(%x: tensor<4x8xf32>) {
  // expected-error@below {{[relay.strided_slice C3] 2 begins, 1 ends, 2 strides and 2 axes of a tensor of rank 2}}
  %r = relay.strided_slice(%x) {begin = [0, 0], end = [2]} : (tensor<4x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @slice_strides(%x: tensor<4x8xf32>) {
  // expected-error@below {{[relay.strided_slice C4] strides are [2] with slice_mode 'size'}}
  %r = relay.strided_slice(%x) {begin = [0], end = [2], strides = [2], slice_mode = "size"} : (tensor<4x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @slice_open(%x: tensor<?x8xf32, #relay.dims<max(n, min(m, max(n - 2, min(m - 2, n + m))))>>) {
  // expected-error@below {{[relay.strided_slice C5]}}
  %r = relay.strided_slice(%x) {begin = [-3], end = [3]}
    : (tensor<?x8xf32, #relay.dims<max(n, min(m, max(n - 2, min(m - 2, n + m))))>>) -> !relay.incomplete
  func.return
}

// -----

func.func @sequence_lengths(%x: tensor<4x8xf32>, %n: tensor<3xi32>) {
  // expected-error@below {{[relay.reverse_sequence C3] seq_lengths is tensor<3xi32> for 4 sequences}}
  %r = relay.reverse_sequence(%x, %n) : (tensor<4x8xf32>, tensor<3xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @sequence_axes(%x: tensor<4x8xf32>, %n: tensor<4xi32>) {
  // expected-error@below {{[relay.reverse_sequence C4] seq_axis and batch_axis are both 0}}
  %r = relay.reverse_sequence(%x, %n) {seq_axis = -2} : (tensor<4x8xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @broadcast(%x: tensor<4x8xf32>) {
  // expected-error@below {{[relay.broadcast_to C2] shape (4, 8) does not broadcast to [4, 4]}}
  %r = relay.broadcast_to(%x) {shape = [4, 4]} : (tensor<4x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @trilu(%x: tensor<4x8xf32>, %k: tensor<1xi32>) {
  // expected-error@below {{[relay.trilu C2] k is tensor<1xi32>, it must be an integer of rank 0}}
  %r = relay.trilu(%x, %k) : (tensor<4x8xf32>, tensor<1xi32>) -> !relay.incomplete
  func.return
}
