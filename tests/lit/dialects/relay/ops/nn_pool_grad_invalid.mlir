// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @max_rank(%g: tensor<1x8x6x6xf32>, %x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_grad C2] layout NCHW has 4 axes, the shape (8, 6, 6) 3}}
  %r = relay.nn.max_pool2d_grad(%g, %x) : (tensor<1x8x6x6xf32>, tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_rank(%g: tensor<1x8x6x6xf32>, %x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d_grad C2] layout NCHW has 4 axes, the shape (8, 6, 6) 3}}
  %r = relay.nn.avg_pool2d_grad(%g, %x) : (tensor<1x8x6x6xf32>, tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_extents(%g: tensor<1x8x2x3xf32>, %x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_grad C5]}}
  %r = relay.nn.max_pool2d_grad(%g, %x) {pool_size = [2, 2], strides = [2, 2]}
    : (tensor<1x8x2x3xf32>, tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_extents(%g: tensor<8x6x6xf32>, %x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d_grad C5]}}
  %r = relay.nn.avg_pool2d_grad(%g, %x) : (tensor<8x6x6xf32>, tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_window(%g: tensor<1x8x1x6xf32>, %x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_grad C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.max_pool2d_grad(%g, %x) {pool_size = [7, 1]} : (tensor<1x8x1x6xf32>, tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_window(%g: tensor<1x8x1x6xf32>, %x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d_grad C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.avg_pool2d_grad(%g, %x) {pool_size = [7, 1]} : (tensor<1x8x1x6xf32>, tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}
