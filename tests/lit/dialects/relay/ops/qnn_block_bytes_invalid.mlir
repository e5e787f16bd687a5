// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @c6(%x: tensor<3x60xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[relay.qnn.contrib_block_dense_bytes C6] data of 60 numbers in 2 blocks, by 8 groups of 64 bytes}}
  %r = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) : (tensor<3x60xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> !relay.incomplete
  func.return
}

// -----

func.func @c7(%x: tensor<3x64xi8>, %s: tensor<3x1xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[relay.qnn.contrib_block_dense_bytes C7]}}
  %r = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x1xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> !relay.incomplete
  func.return
}

// -----

func.func @c7_sums(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<2x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[relay.qnn.contrib_block_dense_bytes C7]}}
  %r = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<2x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> !relay.incomplete
  func.return
}

// -----

func.func @c8(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<1x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[relay.qnn.contrib_block_dense_bytes C8]}}
  %r = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<1x2x16xf32>, tensor<ui8>) -> !relay.incomplete
  func.return
}

// -----

func.func @c8_points(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<2x1x16xui8>) {
  // expected-error@below {{[relay.qnn.contrib_block_dense_bytes C8]}}
  %r = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<2x1x16xui8>) -> !relay.incomplete
  func.return
}

// -----

func.func @c9(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) {
  // expected-error@below {{[relay.qnn.contrib_block_dense_bytes C9]}}
  %r = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) {units = 40} : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> !relay.incomplete
  func.return
}
