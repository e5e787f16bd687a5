// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @indices_layout(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_indices C1] layout NCHW2h splits H}}
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [2, 2], layout = "NCHW2h"} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @indices_rank(%x: tensor<8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_indices C2] layout NCHW has 4 axes}}
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [2, 2]} : (tensor<8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @indices_size(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_indices C6] pool_size must be one or two positive numbers, found [0, 2]}}
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [0, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @indices_strides(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_indices C7] strides must be one or two positive numbers}}
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [2, 2], strides = [1, 0]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @indices_padding(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_indices C8] padding must be 1, 2 or 4 numbers that are not negative, found [-1]}}
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [2, 2], padding = [-1]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @indices_window(%x: tensor<1x8x6x6xf32>) {
  // expected-error@below {{[relay.nn.max_pool2d_indices C9] a window of 7 (dilation 1) is larger than the padded H extent 6}}
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [7, 2]} : (tensor<1x8x6x6xf32>) -> !relay.incomplete
  func.return
}

