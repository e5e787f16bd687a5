// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @c1(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x4x16xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C1] weight has rank 4, not 3}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x4x16xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c2(%x: tensor<3x60xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C2] data has rows of 60 in 2 blocks, weight is [2, 8, 64]}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x60xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c2_blocks(%x: tensor<3x64xi8>, %s: tensor<3x3xf32>, %t: tensor<3x3xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x3x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C2] data has rows of 64 in 3 blocks}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x8x64xui8>, tensor<2x3x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c3_scales(%x: tensor<3x64xi8>, %s: tensor<3x1xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C3] data_scales}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x1xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c3_sums(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<2x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C3] data_sums}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c3_result(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C3] result}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<3x16xf32>
  func.return
}

// -----

func.func @c3_weight(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<1x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C3] scales}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<1x2x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c3_points(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<2x1x16xui8>) {
  // expected-error@below {{[topi.matmul_blocks C3] zero_points}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<2x1x16xui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c4(%x: tensor<3x64xui8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C4] elements are}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xui8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}

// -----

func.func @c4_scales(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf64>, %z: tensor<ui8>) {
  // expected-error@below {{[topi.matmul_blocks C4] elements are}}
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf64>, tensor<ui8>) -> tensor<3x32xf32>
  func.return
}
