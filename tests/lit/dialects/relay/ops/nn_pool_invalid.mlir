// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @max_layout(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C1] layout NCHW2h splits H}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [2, 2], layout = "NCHW2h"} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_rank(%x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C2] layout NCHW has 4 axes}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [2, 2]} : (tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_size(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C6] pool_size must be one or two positive numbers, found [0, 2]}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [0, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_strides(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C7] strides must be one or two positive numbers}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [2, 2], strides = [1, 0]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_padding(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C8] padding must be 1, 2 or 4 numbers that are not negative, found [-1]}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [2, 2], padding = [-1]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max_window(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.max_pool2d(%x) {pool_size = [7, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_layout(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C1] layout NCHW2h splits H}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], layout = "NCHW2h"} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_rank(%x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C2] layout NCHW has 4 axes}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [2, 2]} : (tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_size(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C6] pool_size must be one or two positive numbers, found [0, 2]}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [0, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_strides(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C7] strides must be one or two positive numbers}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [1, 0]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_padding(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C8] padding must be 1, 2 or 4 numbers that are not negative, found [-1]}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], padding = [-1]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @avg_window(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.avg_pool2d C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.avg_pool2d(%x) {pool_size = [7, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @global_avg_layout(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.global_avg_pool2d C1] layout NCW must have the axes N, C, H, W}}
  %r = relay.nn.global_avg_pool2d(%x) {layout = "NCW"} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @global_avg_rank(%x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.global_avg_pool2d C2] layout NCHW has 4 axes}}
  %r = relay.nn.global_avg_pool2d(%x) : (tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @global_max_layout(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.global_max_pool2d C1] layout NCW must have the axes N, C, H, W}}
  %r = relay.nn.global_max_pool2d(%x) {layout = "NCW"} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @global_max_rank(%x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.global_max_pool2d C2] layout NCHW has 4 axes}}
  %r = relay.nn.global_max_pool2d(%x) : (tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}
