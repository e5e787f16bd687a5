// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-inline-injective,topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-inline-injective,topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=x86-64-v3 -num-threads=1"}' | filecheck %s --check-prefix=NONE

// The rows of an image of dynamic size are apart in memory: lanes beyond the end of a row are masked.
// CHECK-LABEL: func.func private @image
// CHECK-SAME:  rfactor("mean_sum", "mean_sum_k3_i")
// CHECK-SAME:  vectorize("mean_sum_k3_i", access = "masked"), disable_unroll("mean_sum_k3_o")
// CHECK-SAME:  3 stages are computed for each row
// NONE-LABEL:  func.func private @image
// NONE-NOT:    masked
// NONE-SAME:   2 stages are computed for each row
func.func private @image(%x: tensor<?x64x?x?xf32, #relay.dims<n, h, w>>) -> tensor<?x64x?x?xf32, #relay.dims<n, h, w>> attributes {relay.primitive} {
  %m = relay.mean(%x) {axis = [2, 3], keepdims = true} : (tensor<?x64x?x?xf32, #relay.dims<n, h, w>>) -> tensor<?x64x1x1xf32, #relay.dims<n>>
  %y = relay.subtract(%x, %m) : (tensor<?x64x?x?xf32, #relay.dims<n, h, w>>, tensor<?x64x1x1xf32, #relay.dims<n>>) -> tensor<?x64x?x?xf32, #relay.dims<n, h, w>>
  func.return %y : tensor<?x64x?x?xf32, #relay.dims<n, h, w>>
}

// A row of one loop is contiguous, so LLVM adds up its terms in lanes.
// CHECK-LABEL: func.func private @row
// CHECK-NOT:   masked
// CHECK-SAME:  2 stages are computed for each row
func.func private @row(%x: tensor<64x?xf32, #relay.dims<w>>) -> tensor<64x?xf32, #relay.dims<w>> attributes {relay.primitive} {
  %m = relay.mean(%x) {axis = [1], keepdims = true} : (tensor<64x?xf32, #relay.dims<w>>) -> tensor<64x1xf32>
  %y = relay.subtract(%x, %m) : (tensor<64x?xf32, #relay.dims<w>>, tensor<64x1xf32>) -> tensor<64x?xf32, #relay.dims<w>>
  func.return %y : tensor<64x?xf32, #relay.dims<w>>
}
