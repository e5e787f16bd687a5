// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @transform_c3(%w: tensor<8x4x3x3xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_weight_transform C3] tile_size must be 2 or 4, found 3}}
  %r = relay.nn.contrib_conv2d_winograd_weight_transform(%w) {tile_size = 3} : (tensor<8x4x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transform_c4(%w: tensor<8x4x5x5xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_weight_transform C4] filter extent, and 3: 5 != 3}}
  %r = relay.nn.contrib_conv2d_winograd_weight_transform(%w) : (tensor<8x4x5x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c3(%x: tensor<1x4x7x7xf32>, %w: tensor<6x6x8x5xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C3]}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) : (tensor<1x4x7x7xf32>, tensor<6x6x8x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c5(%x: tensor<1x4x7x7xf32>, %w: tensor<6x6x8x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C5]}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {channels = 9} : (tensor<1x4x7x7xf32>, tensor<6x6x8x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c6(%x: tensor<1x4x7x7xf32>, %w: tensor<6x6x8x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C6]}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {kernel_size = [5, 5]} : (tensor<1x4x7x7xf32>, tensor<6x6x8x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c9(%x: tensor<1x4x2x7xf32>, %w: tensor<6x6x8x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C9]}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) : (tensor<1x4x2x7xf32>, tensor<6x6x8x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c12(%x: tensor<1x4x7x7xf32>, %w: tensor<6x6x8x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C12] tile_size must be 2 or 4, found 3}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {tile_size = 3} : (tensor<1x4x7x7xf32>, tensor<6x6x8x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c12_weight(%x: tensor<1x4x7x7xf32>, %w: tensor<6x6x8x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C12] weight extent H, and tile_size plus 2: 6 != 4}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {tile_size = 2} : (tensor<1x4x7x7xf32>, tensor<6x6x8x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @c13(%x: tensor<1x4x7x7xf32>, %w: tensor<6x6x8x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_conv2d_winograd_without_weight_transform C13]}}
  %r = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {strides = [2, 2]} : (tensor<1x4x7x7xf32>, tensor<6x6x8x4xf32>) -> !relay.incomplete
  func.return
}
