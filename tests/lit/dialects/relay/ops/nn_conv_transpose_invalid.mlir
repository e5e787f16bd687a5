// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @channels_in(%x: tensor<1x3x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C3] the weight has 4 input channels, the data has 3}}
  %r = relay.nn.conv2d_transpose(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @groups(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C4] in-channels 3 modulo groups 2: 1 != 0}}
  %r = relay.nn.conv2d_transpose(%x, %w) {groups = 2} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C5] kernel out-channels and channels differ: 6 != 3}}
  %r = relay.nn.conv2d_transpose(%x, %w) {channels = 3, groups = 2} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @kernel_size(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C6] kernel width and kernel_size differ: 3 != 2}}
  %r = relay.nn.conv2d_transpose(%x, %w) {kernel_size = [3, 2]} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nothing(%x: tensor<1x3x1x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C9]}}
  %r = relay.nn.conv2d_transpose(%x, %w) {padding = [2, 2]} : (tensor<1x3x1x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}
