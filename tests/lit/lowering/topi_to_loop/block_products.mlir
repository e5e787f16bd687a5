// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -num-threads=2"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=haswell -num-threads=2"}' | filecheck %s --check-prefix NARROW

// All units and rows are one tile. The numbers are unpacked once for its rows.
// CHECK-LABEL: func.func private @few
// CHECK-SAME: compute_at("scale", "scale_write_0_all")
// CHECK-SAME: compute_at("sums", "scale_b")
// CHECK-SAME: contract("sums_t", "sums_j_l")
// CHECK-SAME: compute_at("unpack", "sums_g"), vectorize("unpack_l")
// NARROW-LABEL: func.func private @few
// NARROW-NOT: contract(
func.func private @few(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf16>, %z: tensor<2x2x16xui8>) -> tensor<3x30xf32> attributes {relay.primitive} {
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf16>, tensor<2x2x16xui8>) -> tensor<3x30xf32>
  func.return %r : tensor<3x30xf32>
}

// CHECK-LABEL: func.func private @many
// CHECK-SAME: split("scale_write_0", 4,
// CHECK-SAME: parallelize(
// CHECK-SAME: 4 rows x 3 vectors of 16 units
func.func private @many(%x: tensor<64x256xi8>, %s: tensor<64x8xf32>, %t: tensor<64x8xf32>, %w: tensor<4x32x64xui8>, %u: tensor<4x8x16xf32>, %z: tensor<ui8>) -> tensor<64x64xf32> attributes {relay.primitive} {
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<64x256xi8>, tensor<64x8xf32>, tensor<64x8xf32>, tensor<4x32x64xui8>, tensor<4x8x16xf32>, tensor<ui8>) -> tensor<64x64xf32>
  func.return %r : tensor<64x64xf32>
}

// A single block of numbers of 8 bits has no loop over blocks, and nothing to unpack.
// CHECK-LABEL: func.func private @one
// CHECK-SAME: compute_at("sums", "scale_write_0_all")
// CHECK-NOT: "unpack"
func.func private @one(%x: tensor<1x32xi8>, %s: tensor<1x1xf32>, %t: tensor<1x1xf32>, %w: tensor<1x8x64xui8>, %u: tensor<1x1x16xf32>, %z: tensor<ui8>) -> tensor<1x16xf32> attributes {relay.primitive} {
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<1x32xi8>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x8x64xui8>, tensor<1x1x16xf32>, tensor<ui8>) -> tensor<1x16xf32>
  func.return %r : tensor<1x16xf32>
}
