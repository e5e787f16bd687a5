// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-inline-injective,topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s

// The many terms of a single minimum are in long rows, which LLVM folds in several vectors.
// CHECK-LABEL: func.func private @image
// CHECK-SAME:  #loop.schedule<[cache_write("min"), fuse("k2", "k3", name = "k2_k3"), disable_unroll("k2_k3")]>
// It is no sum, so its reason names no partial sums.
// CHECK-NOT:   partial sums
func.func private @image(%x: tensor<1x32x64x64xf32>) -> tensor<f32> attributes {relay.primitive} {
  %m = relay.min(%x) : (tensor<1x32x64x64xf32>) -> tensor<f32>
  func.return %m : tensor<f32>
}

// With fewer terms the loops stay, as those of a dynamic length and those of a sum do.
// CHECK-LABEL: func.func private @short
// CHECK-NOT:   fuse(
// CHECK-LABEL: func.func private @dynamic
// CHECK-NOT:   fuse(
// CHECK-LABEL: func.func private @sum
// CHECK-NOT:   fuse(
func.func private @short(%x: tensor<4x16xf32>) -> tensor<f32> attributes {relay.primitive} {
  %m = relay.max(%x) : (tensor<4x16xf32>) -> tensor<f32>
  func.return %m : tensor<f32>
}
func.func private @dynamic(%x: tensor<512x?xf32, #relay.dims<n>>) -> tensor<f32> attributes {relay.primitive} {
  %m = relay.max(%x) : (tensor<512x?xf32, #relay.dims<n>>) -> tensor<f32>
  func.return %m : tensor<f32>
}
func.func private @sum(%x: tensor<512x1024xf32>) -> tensor<f32> attributes {relay.primitive} {
  %m = relay.sum(%x) : (tensor<512x1024xf32>) -> tensor<f32>
  func.return %m : tensor<f32>
}
