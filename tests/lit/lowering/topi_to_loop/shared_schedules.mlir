// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-bf16 -num-threads=1"}' -o %t && filecheck %s < %t
// RUN: xrelay-opt %t -p loop-parametrize-kernels | filecheck %s --check-prefix ONE
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-schedule-kernels{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-bf16 -num-threads=1"}' | filecheck %s --check-prefix ONE

// Convolutions of 56 and of 14 columns get the schedule of the longer one, whose columns are split into tiles.
// CHECK-LABEL: func.func private @short
// CHECK-SAME:    split("conv2d_write_3", 14
// CHECK-LABEL: func.func private @long
// CHECK-SAME:    split("conv2d_write_3", 14
// ONE:         func.func private @short
// ONE-SAME:      %size0: index
// ONE-NOT:     @long
func.func private @short(%x: tensor<1x4x14x14x16xf32>, %w: tensor<8x64x1x1x16x2xbf16>) -> tensor<1x8x14x14x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x4x14x14x16xf32>, tensor<8x64x1x1x16x2xbf16>) -> tensor<1x8x14x14x16xf32>
  func.return %r : tensor<1x8x14x14x16xf32>
}
func.func private @long(%x: tensor<1x4x56x56x16xf32>, %w: tensor<8x64x1x1x16x2xbf16>) -> tensor<1x8x56x56x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x4x56x56x16xf32>, tensor<8x64x1x1x16x2xbf16>) -> tensor<1x8x56x56x16xf32>
  func.return %r : tensor<1x8x56x56x16xf32>
}
// A convolution whose image is computed in pieces has a schedule of its own.
// CHECK-LABEL: func.func private @pieces
// CHECK-SAME:    "conv2d_write_2_o_p"
// ONE:         func.func private @pieces
func.func private @pieces(%x: tensor<1x16x56x56x16xf32>, %w: tensor<16x256x1x1x16x2xbf16>) -> tensor<1x16x56x56x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_split(%x, %w)
       : (tensor<1x16x56x56x16xf32>, tensor<16x256x1x1x16x2xbf16>) -> tensor<1x16x56x56x16xf32>
  func.return %r : tensor<1x16x56x56x16xf32>
}
