// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @split_c1(%x: tensor<4x8xf64>) {
  // expected-error@below {{[relay.nn.contrib_split_floats C1] the elements must be f32, found f64}}
  %r = relay.nn.contrib_split_floats(%x) : (tensor<4x8xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @c1(%x: tensor<2x4x8xbf16>, %w: tensor<2x4x16x2xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C1] needs data of rank 2 or more and a weight of rank 5, and as much more for a stack, found ranks 3 and 4}}
  %r = relay.nn.contrib_dense_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x4x16x2xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @c1_parts(%x: tensor<3x4x8xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C1] number of parts, and 2: 3 != 2}}
  %r = relay.nn.contrib_dense_split(%x, %w) : (tensor<3x4x8xbf16>, tensor<2x1x4x16x2xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @c1_stack(%x: tensor<2x4x5x8xbf16>, %w: tensor<2x3x1x4x16x2xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C1] extents of the stack of the data and of the weight differ: 4 != 3}}
  %r = relay.nn.contrib_dense_split(%x, %w) : (tensor<2x4x5x8xbf16>, tensor<2x3x1x4x16x2xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @c2(%x: tensor<2x4x8xbf16>, %w: tensor<2x1x8x16xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C2] weight_layout NC16n has no blocks of C}}
  %r = relay.nn.contrib_dense_split(%x, %w) {weight_layout = "NC16n"} : (tensor<2x4x8xbf16>, tensor<2x1x8x16xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @c3(%x: tensor<2x4x6xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C3] data's last extent and the weight's C differ: 6 != 8}}
  %r = relay.nn.contrib_dense_split(%x, %w) : (tensor<2x4x6xbf16>, tensor<2x1x4x16x2xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @c4(%x: tensor<2x4x8xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C4] the weight's N and 20 units in blocks differ: 16 != 32}}
  %r = relay.nn.contrib_dense_split(%x, %w) {units = 20} : (tensor<2x4x8xbf16>, tensor<2x1x4x16x2xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @c5(%x: tensor<2x4x8xf32>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[relay.nn.contrib_dense_split C5]}}
  %r = relay.nn.contrib_dense_split(%x, %w) : (tensor<2x4x8xf32>, tensor<2x1x4x16x2xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv_c3(%x: tensor<1x4x7x7xf32>, %w: tensor<8x8x3x3xbf16>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_split C3] in-channels of the weight, and those of both parts: 8 != 64}}
  %r = relay.nn.contrib_conv2d_split(%x, %w) : (tensor<1x4x7x7xf32>, tensor<8x8x3x3xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv_c4(%x: tensor<1x4x7x7xf32>, %w: tensor<8x64x3x3xbf16>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_split C4] groups must be 1, found 2}}
  %r = relay.nn.contrib_conv2d_split(%x, %w) {groups = 2} : (tensor<1x4x7x7xf32>, tensor<8x64x3x3xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv_c5(%x: tensor<1x4x7x7xf32>, %w: tensor<8x64x3x3xbf16>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_split C5]}}
  %r = relay.nn.contrib_conv2d_split(%x, %w) {channels = 4} : (tensor<1x4x7x7xf32>, tensor<8x64x3x3xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv_c6(%x: tensor<1x4x7x7xf32>, %w: tensor<8x64x3x3xbf16>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_split C6]}}
  %r = relay.nn.contrib_conv2d_split(%x, %w) {kernel_size = [5, 5]} : (tensor<1x4x7x7xf32>, tensor<8x64x3x3xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv_c9(%x: tensor<1x4x2x2xf32>, %w: tensor<8x64x3x3xbf16>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_split C9]}}
  %r = relay.nn.contrib_conv2d_split(%x, %w) : (tensor<1x4x2x2xf32>, tensor<8x64x3x3xbf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv_c10(%x: tensor<1x4x7x7xf32>, %w: tensor<8x64x3x3xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_split C10]}}
  %r = relay.nn.contrib_conv2d_split(%x, %w) : (tensor<1x4x7x7xf32>, tensor<8x64x3x3xf32>) -> !relay.incomplete
  func.return
}
