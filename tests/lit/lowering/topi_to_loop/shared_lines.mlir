// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s

// Phases of an image in blocks of channels: the lines of a row are read for all channels before those of the next row.
// CHECK-LABEL: func.func private @phases
// CHECK-SAME:    reorder("i2", "i1", "i3")
// CHECK-SAME:    iterations of i1 read the same lines
func.func private @phases(%x: tensor<1x6x16x16x16xf32>) -> tensor<1x24x32x32xf32> attributes {relay.primitive} {
  %0 = relay.layout_transform(%x) {src_layout = "NCHW16c", dst_layout = "NCHW"} : (tensor<1x6x16x16x16xf32>) -> tensor<1x96x16x16xf32>
  %1 = relay.reshape(%0) {newshape = [1, 2, 2, 24, 16, 16]} : (tensor<1x96x16x16xf32>) -> tensor<1x2x2x24x16x16xf32>
  %2 = relay.transpose(%1) {axes = [0, 3, 4, 1, 5, 2]} : (tensor<1x2x2x24x16x16xf32>) -> tensor<1x24x16x2x16x2xf32>
  %3 = relay.reshape(%2) {newshape = [1, 24, 32, 32]} : (tensor<1x24x16x2x16x2xf32>) -> tensor<1x24x32x32xf32>
  func.return %3 : tensor<1x24x32x32xf32>
}

// Without blocks, the lines of a row have no elements of other channels.
// CHECK-LABEL: func.func private @plain_phases
// CHECK-NOT:     read the same lines
func.func private @plain_phases(%0: tensor<1x96x16x16xf32>) -> tensor<1x24x32x32xf32> attributes {relay.primitive} {
  %1 = relay.reshape(%0) {newshape = [1, 2, 2, 24, 16, 16]} : (tensor<1x96x16x16xf32>) -> tensor<1x2x2x24x16x16xf32>
  %2 = relay.transpose(%1) {axes = [0, 3, 4, 1, 5, 2]} : (tensor<1x2x2x24x16x16xf32>) -> tensor<1x24x16x2x16x2xf32>
  %3 = relay.reshape(%2) {newshape = [1, 24, 32, 32]} : (tensor<1x24x16x2x16x2xf32>) -> tensor<1x24x32x32xf32>
  func.return %3 : tensor<1x24x32x32xf32>
}
