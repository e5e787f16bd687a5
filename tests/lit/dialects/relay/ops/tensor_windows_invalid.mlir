// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %b: tensor<1xi64>) {
  // expected-error@below {{[relay.strided_set C4] 1 axes are set in 2}}
  %z = relay.strided_set(%x, %v, %b, %b, %b) : (tensor<4x8xf32>, tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @bounds(%x: tensor<4x8xf32>, %v: tensor<4x8xf32>, %b: tensor<3xi64>) {
  // expected-error@below {{[relay.strided_set C5] begin, end and strides of shapes (3), (3), (3) for 2 axes}}
  %z = relay.strided_set(%x, %v, %b, %b, %b) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @windows(%x: tensor<4x8xf32>) {
  // expected-error@below {{[relay.sliding_window C4] windows [2] with strides [1] over (4, 8)}}
  %z = relay.sliding_window(%x) {axis = 0, window_shape = [2], strides = [1]} : (tensor<4x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @long(%x: tensor<4x8xf32>) {
  // expected-error@below {{[relay.sliding_window C5] elements of an axis, and of a window, 8 is less than 9}}
  %z = relay.sliding_window(%x) {axis = 1, window_shape = [9], strides = [1]} : (tensor<4x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @tuple(%x: tensor<4x8xf32>) {
  // expected-error@below {{[relay.adv_index C1] a tuple of a tensor and of indices of its axes is expected, found tensor<4x8xf32>}}
  %z = relay.adv_index(%x) : (tensor<4x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @indices(%t: tuple<tensor<4x8xf32>, tensor<2xi64>, tensor<3xi64>>) {
  // expected-error@below {{[relay.adv_index C2] indices of (2) and (3) do not broadcast}}
  %z = relay.adv_index(%t) : (tuple<tensor<4x8xf32>, tensor<2xi64>, tensor<3xi64>>) -> !relay.incomplete
  func.return
}
