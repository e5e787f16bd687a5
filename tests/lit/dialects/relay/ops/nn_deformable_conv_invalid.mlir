// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @layout(%x: tensor<1x2x5x4xf32>, %o: tensor<1x18x3x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C6] layouts NCHW, 'HWIO' and '' do not fit}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) {kernel_layout = "HWIO"} : (tensor<1x2x5x4xf32>, tensor<1x18x3x2xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%x: tensor<1x4x5x4xf32>, %o: tensor<1x18x3x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C7] channels of the weight and the data 2 != 4}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) : (tensor<1x4x5x4xf32>, tensor<1x18x3x2xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @filters(%x: tensor<1x4x5x4xf32>, %o: tensor<1x18x3x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C8] filters 3 modulo groups 2: 1 != 0}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) {groups = 2} : (tensor<1x4x5x4xf32>, tensor<1x18x3x2xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @window(%x: tensor<1x2x5x4xf32>, %o: tensor<1x18x3x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C9] window of the weight and kernel_size 3 != 2}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) {kernel_size = [3, 2]} : (tensor<1x2x5x4xf32>, tensor<1x18x3x2xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @offsets(%x: tensor<1x2x5x4xf32>, %o: tensor<1x9x3x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C10] offsets, and those of all taps, 9 != 18}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) : (tensor<1x2x5x4xf32>, tensor<1x9x3x2xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @small(%x: tensor<1x2x5x2xf32>, %o: tensor<1x18x3x1xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C11] elements with zeros, and of the window, 2 is less than 3}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) : (tensor<1x2x5x2xf32>, tensor<1x18x3x1xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @empty(%x: tensor<1x2x0x4xf32>, %o: tensor<1x18x3x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@below {{[relay.nn.deformable_conv2d C12] spatial extent 0 is less than 1}}
  %z = relay.nn.deformable_conv2d(%x, %o, %w) : (tensor<1x2x0x4xf32>, tensor<1x18x3x2xf32>, tensor<3x2x3x3xf32>) -> !relay.incomplete
  func.return
}
