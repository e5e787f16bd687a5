// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-bf16 -num-threads=1"},loop-parametrize-kernels,loop-apply-schedules,loop-lower-blocks,convert-loop-to-scf{tiles=tdpbf16ps}' | filecheck %s

// One kernel replaces convolutions by parts of different depths, and its sums stay in tiles for all steps.
// CHECK-LABEL: func.func private @conv(
// CHECK-SAME:    memref<1x?x14x14x16xf32>
// CHECK-SAME:    %size
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<14x16xf32>
// CHECK-NOT:   amx.tile_store
// CHECK:       scf.for {{.*}} iter_args(
// CHECK-COUNT-12: amx.tile_mulf
// CHECK-NEXT:  scf.yield
// CHECK-COUNT-4: amx.tile_store
// CHECK-NOT:   func.func private
func.func private @conv(%x: tensor<1x32x14x14x16xf32>, %w: tensor<8x512x1x1x16x2xbf16>) -> tensor<1x8x14x14x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x32x14x14x16xf32>, tensor<8x512x1x1x16x2xbf16>) -> tensor<1x8x14x14x16xf32>
  func.return %r : tensor<1x8x14x14x16xf32>
}
func.func private @deeper(%x: tensor<1x34x14x14x16xf32>, %w: tensor<8x544x1x1x16x2xbf16>) -> tensor<1x8x14x14x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x34x14x14x16xf32>, tensor<8x544x1x1x16x2xbf16>) -> tensor<1x8x14x14x16xf32>
  func.return %r : tensor<1x8x14x14x16xf32>
}
