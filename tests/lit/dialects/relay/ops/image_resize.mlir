// RUN: XRELAY_ROUNDTRIP | filecheck %s

// Floats in arrays keep their decimal point; named batches and channels are preserved.
// CHECK-LABEL: @region(
func.func @region(%x: tensor<?x3x4x4xf32, #relay.dims<n>>) {
  // CHECK: roi = [0.0, 0.25, 1.0, 0.75]
  // CHECK-SAME: -> tensor<?x3x5x6xf32, #relay.dims<n>>
  %r = relay.image.resize2d(%x) {size = [5, 6], roi = [0.0, 0.25, 1.0, 0.75], coordinate_transformation_mode = "tf_crop_and_resize"}
    : (tensor<?x3x4x4xf32, #relay.dims<n>>) -> tensor<?x3x5x6xf32, #relay.dims<n>>
  func.return
}

// CHECK-LABEL: @channels_last(
func.func @channels_last(%x: tensor<1x?x4x3xi8, #relay.dims<h>>) {
  // CHECK: relay.image.resize2d
  %r = relay.image.resize2d(%x) {size = [5, 6], layout = "NHWC", out_dtype = f32}
    : (tensor<1x?x4x3xi8, #relay.dims<h>>) -> tensor<1x5x6x3xf32>
  func.return
}

// A size may be an expression of an extent.
// CHECK-LABEL: @twice(
func.func @twice(%x: tensor<?xf32, #relay.dims<n>>, %c: tensor<1xf32>, %r: tensor<2xf32>) -> tensor<?xf32, #relay.dims<2 * n>> {
  %s = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %t = relay.add(%s, %s) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  // CHECK: relay.dyn.image.resize{{.*}} -> tensor<?xf32, #relay.dims<2 * n>>
  %y = relay.dyn.image.resize(%x, %t, %c, %r) {axes = [0]} : (tensor<?xf32, #relay.dims<n>>, tensor<1xi64>, tensor<1xf32>, tensor<2xf32>) -> tensor<?xf32, #relay.dims<2 * n>>
  func.return %y : tensor<?xf32, #relay.dims<2 * n>>
}
