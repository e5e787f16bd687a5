// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1 -l2=1048576"}' | filecheck %s

// Pieces of 7 rows of an image of 3 MiB stay in the L2 cache for all filters. So does the weight.
// CHECK-LABEL: func.func private @large_image
// CHECK-SAME: split("conv2d_write_2", 7, names = ["conv2d_write_2_p", "conv2d_write_2_r"])
// CHECK-SAME: reorder("conv2d_write_0", "conv2d_write_2_p", "conv2d_write_1_o", "conv2d_write_2_r"
func.func private @large_image(%x: tensor<2x16x56x56x16xf32>, %w: tensor<8x16x1x1x16x16xf32>) -> tensor<2x8x56x56x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<2x16x56x56x16xf32>, tensor<8x16x1x1x16x16xf32>) -> tensor<2x8x56x56x16xf32>
  func.return %r : tensor<2x8x56x56x16xf32>
}

// A weight that would pass through the cache for each piece, a smaller image, and the filters of a single tile have no pieces.
// CHECK-LABEL: func.func private @large_weight
// CHECK-NOT: {{_p"}}
// CHECK-LABEL: func.func private @small_image
// CHECK-NOT: {{_p"}}
// CHECK-LABEL: func.func private @one_tile
// CHECK-NOT: {{_p"}}
func.func private @large_weight(%x: tensor<1x32x28x28x16xf32>, %w: tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x28x28x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x32x28x28x16xf32>, tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x28x28x16xf32>
  func.return %r : tensor<1x32x28x28x16xf32>
}
func.func private @small_image(%x: tensor<2x4x28x28x16xf32>, %w: tensor<8x4x1x1x16x16xf32>) -> tensor<2x8x28x28x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<2x4x28x28x16xf32>, tensor<8x4x1x1x16x16xf32>) -> tensor<2x8x28x28x16xf32>
  func.return %r : tensor<2x8x28x28x16xf32>
}
func.func private @one_tile(%x: tensor<1x16x56x56x16xf32>, %w: tensor<2x16x1x1x16x16xf32>) -> tensor<1x2x56x56x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x16x56x56x16xf32>, tensor<2x16x1x1x16x16xf32>) -> tensor<1x2x56x56x16xf32>
  func.return %r : tensor<1x2x56x56x16xf32>
}

// The filters are read once for a batch of small images.
// CHECK-LABEL: func.func private @batch
// CHECK-SAME: reorder("conv2d_write_1_o", "conv2d_write_0", "conv2d_write_2_o"
// CHECK-LABEL: func.func private @batch_of_large_images
// CHECK-SAME: reorder("conv2d_write_0", "conv2d_write_1_o"
func.func private @batch(%x: tensor<8x16x7x7x16xf32>, %w: tensor<64x16x1x1x16x16xf32>) -> tensor<8x64x7x7x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<8x16x7x7x16xf32>, tensor<64x16x1x1x16x16xf32>) -> tensor<8x64x7x7x16xf32>
  func.return %r : tensor<8x64x7x7x16xf32>
}
func.func private @batch_of_large_images(%x: tensor<8x16x28x28x16xf32>, %w: tensor<64x16x1x1x16x16xf32>) -> tensor<8x64x28x28x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<8x16x28x28x16xf32>, tensor<64x16x1x1x16x16xf32>) -> tensor<8x64x28x28x16xf32>
  func.return %r : tensor<8x64x28x28x16xf32>
}
