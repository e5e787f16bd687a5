// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @layout(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C1] layout 'NCHH' has the axis H twice}}
  %r = relay.nn.conv2d(%x, %w) {data_layout = "NCHH"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @layout_axes(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C1] layout OIHD must have the axes O, I, H, W}}
  %r = relay.nn.conv2d(%x, %w) {kernel_layout = "OIHD"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @rank(%x: tensor<3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C2] layout NCHW has 4 axes, the shape (3, 8, 8) 3}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels_in(%x: tensor<1x64x8x8xf32>, %w: tensor<4x32x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C3] kernel in-channels 32 != 64}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x64x8x8xf32>, tensor<4x32x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels_in_grouped(%x: tensor<1x64x8x8xf32>, %w: tensor<4x8x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C3] kernel in-channels 8 times groups 4: 32 != 64}}
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

func.func @strides(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C7] strides must be one or two positive numbers, found [0, 1]}}
  %r = relay.nn.conv2d(%x, %w) {strides = [0, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @padding(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C8] padding must be 1, 2 or 4 numbers that are not negative, found [1, 1, 1]}}
  %r = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @too_small(%x: tensor<1x3x2x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C9] a window of 3 (dilation 1) is larger than the padded H extent 2}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @elements(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf16>) {
  // expected-error@below {{[relay.nn.conv2d C10] element types f32 != f16}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @out_dtype(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C11] the dtype must be an element type, found "float32"}}
  %r = relay.nn.conv2d(%x, %w) {out_dtype = "float32"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @result(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C0] result type tensor<1x4x6x7xf32> does not follow from the operands, which give tensor<1x4x6x6xf32>}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x7xf32>
  func.return
}

// -----

func.func @not_a_tensor(%x: tuple<tensor<4xf32>>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C0] operand #0 must be a tensor}}
  %r = relay.nn.conv2d(%x, %w) : (tuple<tensor<4xf32>>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}
