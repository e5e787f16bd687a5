// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @c1(%x: tensor<1x8x9x9xf32>, %w: tensor<2x4x4x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_winograd C1] data has rank 4, not 5}}
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2} : (tensor<1x8x9x9xf32>, tensor<2x4x4x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @c2(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x5x5x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_winograd C2] the tile is 3, not 2 or 4}}
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 3} : (tensor<1x1x9x9x8xf32>, tensor<2x5x5x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @c2_padding(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x4x4x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_winograd C2] padding is [0, 0], not four numbers of at least 0}}
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2, padding = array<i64: 0, 0>} : (tensor<1x1x9x9x8xf32>, tensor<2x4x4x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @c3(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x6x6x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_winograd C3] weight has shape [2, 6, 6, 8, 8], not [2, 4, 4, 8, 8]}}
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2} : (tensor<1x1x9x9x8xf32>, tensor<2x6x6x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @c4(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x4x4x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_winograd C4] result has shape [1, 2, 9, 7, 8], not [1, 2, 7, 7, 8]}}
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2} : (tensor<1x1x9x9x8xf32>, tensor<2x4x4x8x8xf32>) -> tensor<1x2x9x7x8xf32>
  func.return
}

// -----

func.func @c5(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x4x4x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_winograd C5] data, weight and result are not all f32 or all f64}}
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2} : (tensor<1x1x9x9x8xf32>, tensor<2x4x4x8x8xf32>) -> tensor<1x2x7x7x8xf64>
  func.return
}
