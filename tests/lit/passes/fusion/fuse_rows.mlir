// RUN: xrelay-opt %s -p relay-fuse-ops,relay-recompute-groups,relay-fuse-rows | filecheck %s

// A normalisation of rows is one kernel.
// CHECK-LABEL: func.func @norm
// CHECK-NEXT: relay.fused @fused_mean_subtract_multiply_mean_subtract_multiply(%p0 = %x : {{.*}}) {{.*}} "kOutEWiseFusable"
// CHECK-NEXT: %[[M:.*]] = relay.mean(%p0)
// CHECK-NEXT: %[[D:.*]] = relay.subtract(%p0, %[[M]])
// CHECK-NEXT: %[[P:.*]] = relay.multiply(%[[D]], %[[D]])
// CHECK-NEXT: %[[V:.*]] = relay.mean(%[[P]])
// CHECK-NEXT: %[[E:.*]] = relay.subtract(%p0, %[[M]])
// CHECK-NEXT: relay.multiply(%[[E]], %[[V]])
func.func @norm(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %m = relay.mean(%x) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %d = relay.subtract(%x, %m) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %p = relay.multiply(%d, %d) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v = relay.mean(%p) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %y = relay.multiply(%d, %v) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %y : tensor<4x64xf32>
}

// Rows of several axes, and of a dynamic length.
// CHECK-LABEL: func.func @images
// CHECK-NEXT: relay.fused @fused_max_subtract
func.func @images(%x: tensor<1x4x?x8xf32, #relay.dims<n>>) -> tensor<1x4x?x8xf32, #relay.dims<n>> {
  %m = relay.max(%x) {axis = [2, 3], keepdims = true} : (tensor<1x4x?x8xf32, #relay.dims<n>>) -> tensor<1x4x1x1xf32>
  %y = relay.subtract(%x, %m) : (tensor<1x4x?x8xf32, #relay.dims<n>>, tensor<1x4x1x1xf32>) -> tensor<1x4x?x8xf32, #relay.dims<n>>
  func.return %y : tensor<1x4x?x8xf32, #relay.dims<n>>
}

// Short rows, columns, and a single row.
// CHECK-LABEL: func.func @others
// CHECK: relay.fused @fused_max{{(_[0-9])?}}(
// CHECK: relay.fused @fused_subtract{{(_[0-9])?}}(
// CHECK: relay.fused @fused_max{{(_[0-9])?}}(
// CHECK: relay.fused @fused_subtract{{(_[0-9])?}}(
// CHECK: relay.fused @fused_max{{(_[0-9])?}}(
// CHECK: relay.fused @fused_subtract{{(_[0-9])?}}(
func.func @others(%x: tensor<64x8xf32>, %y: tensor<64x64xf32>, %z: tensor<1x64xf32>) -> (tensor<64x8xf32>, tensor<64x64xf32>, tensor<1x64xf32>) {
  %0 = relay.max(%x) {axis = [1], keepdims = true} : (tensor<64x8xf32>) -> tensor<64x1xf32>
  %1 = relay.subtract(%x, %0) : (tensor<64x8xf32>, tensor<64x1xf32>) -> tensor<64x8xf32>
  %2 = relay.max(%y) {axis = [0], keepdims = true} : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %3 = relay.subtract(%y, %2) : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %4 = relay.max(%z) {axis = [1], keepdims = true} : (tensor<1x64xf32>) -> tensor<1x1xf32>
  %5 = relay.subtract(%z, %4) : (tensor<1x64xf32>, tensor<1x1xf32>) -> tensor<1x64xf32>
  func.return %1, %3, %5 : tensor<64x8xf32>, tensor<64x64xf32>, tensor<1x64xf32>
}

// Two groups read the maxima; the reader does not read the rows; a reduction of two axes and one of one axis.
// CHECK-LABEL: func.func @read
// CHECK: relay.fused @fused_max{{(_[0-9])?}}(
// CHECK: relay.fused @fused_subtract{{(_[0-9])?}}(
// CHECK: relay.fused @fused_multiply{{(_[0-9])?}}(
// CHECK: relay.fused @fused_max{{(_[0-9])?}}(
// CHECK: relay.fused @fused_multiply{{(_[0-9])?}}(
func.func @read(%x: tensor<4x64xf32>, %z: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
  %0 = relay.max(%x) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %1 = relay.subtract(%x, %0) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %2 = relay.multiply(%x, %0) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %3 = relay.max(%x) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %4 = relay.multiply(%z, %3) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %1, %2, %4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
}

// Reductions along other axes than those of the rows that the kernel has already.
// CHECK-LABEL: func.func @axes
// CHECK: relay.fused @fused_max{{(_[0-9])?}}(
// CHECK: relay.fused @fused_sum_subtract_multiply(
func.func @axes(%x: tensor<4x8x64xf32>) -> tensor<4x8x64xf32> {
  %0 = relay.max(%x) {axis = [1, 2], keepdims = true} : (tensor<4x8x64xf32>) -> tensor<4x1x1xf32>
  %1 = relay.sum(%x) {axis = [2], keepdims = true} : (tensor<4x8x64xf32>) -> tensor<4x8x1xf32>
  %2 = relay.subtract(%x, %0) : (tensor<4x8x64xf32>, tensor<4x1x1xf32>) -> tensor<4x8x64xf32>
  %3 = relay.multiply(%2, %1) : (tensor<4x8x64xf32>, tensor<4x8x1xf32>) -> tensor<4x8x64xf32>
  func.return %3 : tensor<4x8x64xf32>
}
