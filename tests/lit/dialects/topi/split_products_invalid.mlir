// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @c1(%x: tensor<2x4x8xbf16>, %w: tensor<2x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C1] weight has rank 4, not 5}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x4x16x2xbf16>) -> tensor<4x16xf32>
  func.return
}

// -----

func.func @c2_stack(%x: tensor<2x4x5x8xbf16>, %w: tensor<2x3x1x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C2]}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x5x8xbf16>, tensor<2x3x1x4x16x2xbf16>) -> tensor<4x5x16xf32>
  func.return
}

// -----

func.func @c1_parts(%x: tensor<3x4x8xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C1] data has 3 parts and weight 2, not 2}}
  %r = topi.matmul_split(%x, %w) : (tensor<3x4x8xbf16>, tensor<2x1x4x16x2xbf16>) -> tensor<4x16xf32>
  func.return
}

// -----

func.func @c2(%x: tensor<2x4x6xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C2] data has rows of 6 elements, weight of 8}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x6xbf16>, tensor<2x1x4x16x2xbf16>) -> tensor<4x16xf32>
  func.return
}

// -----

func.func @c3(%x: tensor<2x4x8xbf16>, %w: tensor<2x2x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C3] result has shape [4, 16], not [4, 32]}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x2x4x16x2xbf16>) -> tensor<4x16xf32>
  func.return
}

// -----

func.func @c3_rows(%x: tensor<2x4x8xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C3] result has shape [5, 16], not [4, 16]}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x1x4x16x2xbf16>) -> tensor<5x16xf32>
  func.return
}

// -----

func.func @c4(%x: tensor<2x4x8xbf16>, %w: tensor<2x1x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C4] elements are bf16, bf16, bf16, not bf16, bf16 and f32}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x1x4x16x2xbf16>) -> tensor<4x16xbf16>
  func.return
}

// -----

func.func @conv_c1(%x: tensor<1x2x9x9x16xf32>, %w: tensor<2x32x3x3x16xbf16>) {
  // expected-error@below {{[topi.conv2d_nchwc_split C1] weight has rank 5, not 6}}
  %r = topi.conv2d_nchwc_split(%x, %w) : (tensor<1x2x9x9x16xf32>, tensor<2x32x3x3x16xbf16>) -> tensor<1x2x7x7x16xf32>
  func.return
}

// -----

func.func @conv_c2(%x: tensor<1x2x9x9x16xf32>, %w: tensor<2x32x3x3x16x2xbf16>) {
  // expected-error@below {{[topi.conv2d_nchwc_split C2] strides is [2], not two positive numbers}}
  %r = topi.conv2d_nchwc_split(%x, %w) {strides = array<i64: 2>} : (tensor<1x2x9x9x16xf32>, tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x7x7x16xf32>
  func.return
}

// -----

func.func @conv_c3(%x: tensor<1x3x9x9x16xf32>, %w: tensor<2x32x3x3x16x2xbf16>) {
  // expected-error@below {{[topi.conv2d_nchwc_split C3] 48 data channels and filters of 64 parts in 1 groups do not fit}}
  %r = topi.conv2d_nchwc_split(%x, %w) : (tensor<1x3x9x9x16xf32>, tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x7x7x16xf32>
  func.return
}

// -----

func.func @conv_c3_groups(%x: tensor<1x2x9x9x16xf32>, %w: tensor<2x32x3x3x16x2xbf16>) {
  // expected-error@below {{[topi.conv2d_nchwc_split C3] 32 data channels and filters of 64 parts in 2 groups do not fit}}
  %r = topi.conv2d_nchwc_split(%x, %w) {groups = 2} : (tensor<1x2x9x9x16xf32>, tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x7x7x16xf32>
  func.return
}

// -----

func.func @conv_c4(%x: tensor<1x2x9x9x16xf32>, %w: tensor<2x32x3x3x16x2xbf16>) {
  // expected-error@below {{[topi.conv2d_nchwc_split C4] result has shape [1, 2, 8, 8, 16], not [1, 2, 7, 7, 16]}}
  %r = topi.conv2d_nchwc_split(%x, %w) : (tensor<1x2x9x9x16xf32>, tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x8x8x16xf32>
  func.return
}

// -----

func.func @conv_c5(%x: tensor<1x2x9x9x16xf32>, %w: tensor<2x32x3x3x16x2xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc_split C5] elements are f32, f32, f32, not f32, bf16 and f32}}
  %r = topi.conv2d_nchwc_split(%x, %w) : (tensor<1x2x9x9x16xf32>, tensor<2x32x3x3x16x2xf32>) -> tensor<1x2x7x7x16xf32>
  func.return
}
