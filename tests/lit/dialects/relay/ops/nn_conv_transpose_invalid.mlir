// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @layout(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C1] layout OIHD must have the axes I, O, H, W}}
  %r = relay.nn.conv2d_transpose(%x, %w) {kernel_layout = "OIHD"} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @rank(%x: tensor<3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C2] layout NCHW has 4 axes, the shape (3, 8, 8) 3}}
  %r = relay.nn.conv2d_transpose(%x, %w) : (tensor<3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels_in(%x: tensor<1x3x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C3] kernel in-channels 4 != 3}}
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

func.func @strides(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C7] strides must be one or two positive numbers, found [1, 0]}}
  %r = relay.nn.conv2d_transpose(%x, %w) {strides = [1, 0]} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @padding(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C8] padding must be 1, 2 or 4 numbers that are not negative, found [1, 1, 1]}}
  %r = relay.nn.conv2d_transpose(%x, %w) {padding = [1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nothing(%x: tensor<1x3x1x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C9] the result has the H extent -1: its windows cover 3, of which padding takes 4}}
  %r = relay.nn.conv2d_transpose(%x, %w) {padding = [2, 2]} : (tensor<1x3x1x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @elements(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf64>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C10] element types f32 != f64}}
  %r = relay.nn.conv2d_transpose(%x, %w) : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @dtype(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C11] the dtype must be an element type}}
  %r = relay.nn.conv2d_transpose(%x, %w) {out_dtype = "f32"} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @output_padding(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d_transpose C12] output_padding must be numbers that are not negative, found [1, -1]}}
  %r = relay.nn.conv2d_transpose(%x, %w) {output_padding = [1, -1]} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> !relay.incomplete
  func.return
}
