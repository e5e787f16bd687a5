// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @c1(%x: tensor<2x4x8xbf16>, %w: tensor<2x4x16x2xbf16>) {
  // expected-error@below {{[topi.matmul_split C1] weight has rank 4, not 5}}
  %r = topi.matmul_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x4x16x2xbf16>) -> tensor<4x16xf32>
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
