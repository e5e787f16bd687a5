// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-bf16 -num-threads=2"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-int8 -num-threads=2"}' | filecheck %s --check-prefix VECTORS

// The three products of parts are unrolled inside of the loop over terms. All tiles of a part are in registers at once.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: reorder("k", "p", "i", "j_v", "j_l", "t"), contract("t", "j_l"), unroll("p"), unroll("i"), unroll("j_v"), disable_unroll("k"), tensorize("k", "tdpbf16ps")
// CHECK-SAME: 32 rows x 2 vectors of 16 columns = tiles of tdpbf16ps
// VECTORS-LABEL: func.func private @rows
// VECTORS-SAME: contract("t", "j_l"), unroll("p")
// VECTORS-NOT: tensorize
func.func private @rows(%x: tensor<2x128x256xbf16>, %w: tensor<2x8x128x16x2xbf16>) -> tensor<128x128xf32> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x128x256xbf16>, tensor<2x8x128x16x2xbf16>) -> tensor<128x128xf32>
  func.return %r : tensor<128x128xf32>
}

// CHECK-LABEL: func.func private @odd
// CHECK-SAME: 16 rows x 3 vectors of 16 columns = tiles of tdpbf16ps
func.func private @odd(%x: tensor<2x48x256xbf16>, %w: tensor<2x6x128x16x2xbf16>) -> tensor<48x96xf32> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x48x256xbf16>, tensor<2x6x128x16x2xbf16>) -> tensor<48x96xf32>
  func.return %r : tensor<48x96xf32>
}

// CHECK-LABEL: func.func private @few
// CHECK-NOT: tensorize
func.func private @few(%x: tensor<2x8x256xbf16>, %w: tensor<2x8x128x16x2xbf16>) -> tensor<8x128xf32> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x8x256xbf16>, tensor<2x8x128x16x2xbf16>) -> tensor<8x128xf32>
  func.return %r : tensor<8x128xf32>
}

// The data and two panels fit into the L2 cache of 2 MB, the weight does not: the next panel is prefetched.
// CHECK-LABEL: func.func private @streamed
// CHECK-SAME: prefetch("k"), tensorize("k", "tdpbf16ps")
// CHECK-LABEL: func.func private @long_rows
// CHECK-NOT: prefetch
func.func private @streamed(%x: tensor<2x128x768xbf16>, %w: tensor<2x48x384x16x2xbf16>) -> tensor<128x768xf32> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x128x768xbf16>, tensor<2x48x384x16x2xbf16>) -> tensor<128x768xf32>
  func.return %r : tensor<128x768xf32>
}
func.func private @long_rows(%x: tensor<2x128x3072xbf16>, %w: tensor<2x48x1536x16x2xbf16>) -> tensor<128x768xf32> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x128x3072xbf16>, tensor<2x48x1536x16x2xbf16>) -> tensor<128x768xf32>
  func.return %r : tensor<128x768xf32>
}

// The rows of a tile are rows of different matrices if each has too few.
// CHECK-LABEL: func.func private @short_matrices
// CHECK-SAME: reorder("i1", "i0", "j")
// CHECK-SAME: compute_at("matmul", "matmul_write_1")
// CHECK-SAME: reorder("k", "p", "i0", "j_v", "j_l", "t")
// CHECK-SAME: tensorize("k", "tdpbf16ps")
func.func private @short_matrices(%x: tensor<2x16x8x256xbf16>, %w: tensor<2x16x128x16x2xbf16>) -> tensor<16x8x256xf32> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x16x8x256xbf16>, tensor<2x16x128x16x2xbf16>) -> tensor<16x8x256xf32>
  func.return %r : tensor<16x8x256xf32>
}
