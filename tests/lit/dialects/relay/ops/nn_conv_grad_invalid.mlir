// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @batch(%g: tensor<3x4x6x6xf32>, %x: tensor<2x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.conv2d_backward_weight C3] the batches of grad and data differ: 3 != 2}}
  %r = relay.nn.conv2d_backward_weight(%g, %x) {kernel_size = [1, 1]}
    : (tensor<3x4x6x6xf32>, tensor<2x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_groups(%g: tensor<2x4x6x6xf32>, %x: tensor<2x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.conv2d_backward_weight C4] groups must be positive, found 0}}
  %r = relay.nn.conv2d_backward_weight(%g, %x) {groups = 0, kernel_size = [1, 1]}
    : (tensor<2x4x6x6xf32>, tensor<2x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @groups(%g: tensor<2x4x6x6xf32>, %x: tensor<2x9x6x6xf32>) {
  // expected-error@below {{[relay.nn.conv2d_backward_weight C4] channels 9 of data modulo groups 2: 1 != 0}}
  %r = relay.nn.conv2d_backward_weight(%g, %x) {groups = 2, kernel_size = [1, 1]}
    : (tensor<2x4x6x6xf32>, tensor<2x9x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%g: tensor<2x4x6x6xf32>, %x: tensor<2x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.conv2d_backward_weight C5] the channels of grad and channels differ: 4 != 8}}
  %r = relay.nn.conv2d_backward_weight(%g, %x) {channels = 8, kernel_size = [1, 1]}
    : (tensor<2x4x6x6xf32>, tensor<2x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @window(%g: tensor<2x4x1x6xf32>, %x: tensor<2x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.conv2d_backward_weight C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.conv2d_backward_weight(%g, %x) {kernel_size = [7, 1]}
    : (tensor<2x4x1x6xf32>, tensor<2x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @extents(%g: tensor<2x4x6x6xf32>, %x: tensor<2x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.conv2d_backward_weight C12] the W extents of grad and of the convolution differ: 6 != 5}}
  %r = relay.nn.conv2d_backward_weight(%g, %x) {kernel_size = [1, 2]}
    : (tensor<2x4x6x6xf32>, tensor<2x8x6x6xf32>) -> !relay.incomplete
  func.return
}
