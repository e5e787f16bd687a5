// RUN: xrelay-opt %s -p 'convert-relay-to-topi,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s

// Eight channels share the indices and factors of a vector of points.
// CHECK-LABEL: func.func private @points
// CHECK-SAME: split("grid_sample_i3", 16, {{.*}}), vectorize("grid_sample_i3_v"), split("grid_sample_i1", 8, names = ["grid_sample_i1_o", "grid_sample_i1_i"]), reorder("grid_sample_i0", "grid_sample_i1_o", "grid_sample_i2", "grid_sample_i3_o", "grid_sample_i1_i", "grid_sample_i3_v")
// CHECK-SAME: iterations of grid_sample_i1_i share indices
func.func private @points(%x: tensor<2x32x9x9xf32>, %g: tensor<2x2x20x64xf32>) -> tensor<2x32x20x64xf32> attributes {relay.primitive} {
  %y = relay.image.grid_sample(%x, %g) : (tensor<2x32x9x9xf32>, tensor<2x2x20x64xf32>) -> tensor<2x32x20x64xf32>
  func.return %y : tensor<2x32x20x64xf32>
}

// Three channels are not split.
// CHECK-LABEL: func.func private @few_channels
// CHECK-SAME: reorder("grid_sample_i0", "grid_sample_i2", "grid_sample_i3_o", "grid_sample_i1", "grid_sample_i3_v")
func.func private @few_channels(%x: tensor<2x3x9x9xf32>, %g: tensor<2x2x20x64xf32>) -> tensor<2x3x20x64xf32> attributes {relay.primitive} {
  %y = relay.image.grid_sample(%x, %g) : (tensor<2x3x9x9xf32>, tensor<2x2x20x64xf32>) -> tensor<2x3x20x64xf32>
  func.return %y : tensor<2x3x20x64xf32>
}

// The samples of a bin are added up for eight channels at once.
// CHECK-LABEL: func.func private @bins
// CHECK-SAME: split("roi_align_i1", 8, names = ["roi_align_i1_o", "roi_align_i1_i"]), reorder("roi_align_i0", "roi_align_i1_o", "roi_align_i2", "roi_align_i3", "roi_align_i1_i"), compute_at("roi_sum", "roi_align_i3"), reorder("roi_sum_y", "roi_sum_x", "roi_sum_i1"), unroll("roi_sum_i1")
// CHECK-SAME: roi_sum accumulates in registers for roi_align_i1_i, whose iterations share indices
func.func private @bins(%x: tensor<1x32x9x9xf32>, %r: tensor<6x5xf32>) -> tensor<6x32x3x4xf32> attributes {relay.primitive} {
  %y = relay.vision.roi_align(%x, %r) {pooled_size = [3, 4], spatial_scale = 1.0, sample_ratio = 2} : (tensor<1x32x9x9xf32>, tensor<6x5xf32>) -> tensor<6x32x3x4xf32>
  func.return %y : tensor<6x32x3x4xf32>
}

// Few ops are shared, and all indices are affine.
// CHECK-LABEL: func.func private @gather
// CHECK-NOT: reorder
// CHECK: func.func private @scaled
// CHECK-NOT: reorder
func.func private @gather(%x: tensor<32x100xf32>, %i: tensor<64xi64>) -> tensor<32x64xf32> attributes {relay.primitive} {
  %y = relay.take(%x, %i) {axis = 1} : (tensor<32x100xf32>, tensor<64xi64>) -> tensor<32x64xf32>
  func.return %y : tensor<32x64xf32>
}

func.func private @scaled(%x: tensor<32x64xf32>, %f: tensor<64xf32>) -> tensor<32x64xf32> attributes {relay.primitive} {
  %y = relay.multiply(%x, %f) : (tensor<32x64xf32>, tensor<64xf32>) -> tensor<32x64xf32>
  func.return %y : tensor<32x64xf32>
}

// Both parts of a vector are computed from one load. A copy to several places has nothing else to share.
// CHECK-LABEL: func.func private @parts
// CHECK-SAME: reorder("i1", "i2_o", "i0", "i2_v"), unroll("i0")
// CHECK: func.func private @copies
// CHECK-NOT: reorder
func.func private @parts(%x: tensor<32x64xf32>) -> tensor<2x32x64xbf16> attributes {relay.primitive} {
  %y = relay.nn.contrib_split_floats(%x) : (tensor<32x64xf32>) -> tensor<2x32x64xbf16>
  func.return %y : tensor<2x32x64xbf16>
}

func.func private @copies(%x: tensor<32x64xf32>) -> tensor<2x32x64xf32> attributes {relay.primitive} {
  %y = relay.broadcast_to(%x) {shape = [2, 32, 64]} : (tensor<32x64xf32>) -> tensor<2x32x64xf32>
  func.return %y : tensor<2x32x64xf32>
}
