// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-bf16 -num-threads=2"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-int8 -num-threads=2"}' | filecheck %s --check-prefix VECTORS

// The parts of the image fit into the L2 cache: a nest before the products computes them.
// CHECK-LABEL: func.func private @conv
// CHECK-SAME: unroll("conv2d_p"), unroll("conv2d_h"), unroll("conv2d_w"), unroll("conv2d_co"), disable_unroll("conv2d_ko"), disable_unroll("conv2d_y"), disable_unroll("conv2d_x"), disable_unroll("conv2d_kq"), prefetch("conv2d_kq"), tensorize("conv2d_kq", "tdpbf16ps")
// CHECK-SAME: reorder("split_c", "split_y", "split_x", "split_ci_v", "split_p", "split_ci_l"), vectorize("split_ci_l")
// CHECK-SAME: 2 rows x 14 columns x 2 vectors = tiles of tdpbf16ps
// VECTORS-LABEL: func.func private @conv
// VECTORS-NOT: tensorize
func.func private @conv(%x: tensor<1x16x14x14x16xf32>, %w: tensor<16x256x3x3x16x2xbf16>) -> tensor<1x16x14x14x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w) {padding = array<i64: 1, 1, 1, 1>}
       : (tensor<1x16x14x14x16xf32>, tensor<16x256x3x3x16x2xbf16>) -> tensor<1x16x14x14x16xf32>
  func.return %r : tensor<1x16x14x14x16xf32>
}

// A large image is split in pieces, whose parts stay in the L2 cache for all filters.
// CHECK-LABEL: func.func private @large
// CHECK-SAME: compute_at("split", "conv2d_write_2_o_p")
// CHECK-SAME: parallel over 4 iterations of conv2d_write_0_conv2d_write_2_o_p
func.func private @large(%x: tensor<1x16x56x56x16xf32>, %w: tensor<4x256x1x1x16x2xbf16>) -> tensor<1x4x56x56x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x16x56x56x16xf32>, tensor<4x256x1x1x16x2xbf16>) -> tensor<1x4x56x56x16xf32>
  func.return %r : tensor<1x4x56x56x16xf32>
}

// A tile has one row if their number is dynamic, and an image of any size is split at once.
// CHECK-LABEL: func.func private @rows
// CHECK-NOT: compute_at("split"
// CHECK-SAME: 1 rows x 28 columns x 2 vectors = tiles of tdpbf16ps
func.func private @rows(%x: tensor<?x16x?x28x16xf32, #relay.dims<n, h>>, %w: tensor<4x256x1x1x16x2xbf16>) -> tensor<?x4x?x28x16xf32, #relay.dims<n, h>> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<?x16x?x28x16xf32, #relay.dims<n, h>>, tensor<4x256x1x1x16x2xbf16>) -> tensor<?x4x?x28x16xf32, #relay.dims<n, h>>
  func.return %r : tensor<?x4x?x28x16xf32, #relay.dims<n, h>>
}

// The tiles of a dynamic number of columns have the rows of an instruction.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: 1 rows x 16 columns x 2 vectors = tiles of tdpbf16ps
func.func private @columns(%x: tensor<1x16x28x?x16xf32, #relay.dims<w>>, %w: tensor<4x256x1x1x16x2xbf16>) -> tensor<1x4x28x?x16xf32, #relay.dims<w>> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x16x28x?x16xf32, #relay.dims<w>>, tensor<4x256x1x1x16x2xbf16>) -> tensor<1x4x28x?x16xf32, #relay.dims<w>>
  func.return %r : tensor<1x4x28x?x16xf32, #relay.dims<w>>
}
