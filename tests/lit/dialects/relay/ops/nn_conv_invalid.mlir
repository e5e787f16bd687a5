// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @channels_in(%x: tensor<1x64x8x8xf32>, %w: tensor<4x32x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C3] the weight has 32 input channels, the data has 64 (groups = 1)}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x64x8x8xf32>, tensor<4x32x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels_in_grouped(%x: tensor<1x64x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C3] the weight has 8 input channels, the data has 64 (groups = 4)}}
  %r = relay.nn.conv2d(%x, %w) {groups = 4} : (tensor<1x64x8x8xf32>, tensor<4x8x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_groups(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C4] groups must be positive, found 0}}
  %r = relay.nn.conv2d(%x, %w) {groups = 0} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @groups(%x: tensor<1x9x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C4] out-channels 4 modulo groups 3: 1 != 0}}
  %r = relay.nn.conv2d(%x, %w) {groups = 3} : (tensor<1x9x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C5] kernel out-channels and channels differ: 4 != 5}}
  %r = relay.nn.conv2d(%x, %w) {channels = 5} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @kernel_size(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C6] kernel width and kernel_size differ: 3 != 5}}
  %r = relay.nn.conv2d(%x, %w) {kernel_size = [3, 5]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @too_small(%x: tensor<1x3x2x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C9] a window of 3 (dilation 1) is larger than the padded H extent 2}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @result(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C0]}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x7xf32>
  func.return
}

// -----

func.func @not_a_tensor(%x: tuple<tensor<4xf32>>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C0] operand #0 must be a tensor}}
  %r = relay.nn.conv2d(%x, %w) : (tuple<tensor<4xf32>>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}
