// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @max_window(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [7, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_window(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [7, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @partial_window(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C9] a window of 8 (dilation 1) is larger than the padded W extent 6}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [7, 8], strides = [2, 2], ceil_mode = true}
      : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}
