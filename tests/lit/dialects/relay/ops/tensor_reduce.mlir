// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @sum(
func.func @sum(%x: tensor<4x8x2xf32>) {
  // CHECK: %r = relay.sum(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  %r = relay.sum(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  func.return
}

// CHECK-LABEL: @mean(
func.func @mean(%x: tensor<4x8x2xf32>) {
  // CHECK: %r = relay.mean(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  %r = relay.mean(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  func.return
}

// CHECK-LABEL: @max(
func.func @max(%x: tensor<4x8x2xf32>) {
  // CHECK: %r = relay.max(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  %r = relay.max(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  func.return
}

// CHECK-LABEL: @min(
func.func @min(%x: tensor<4x8x2xf32>) {
  // CHECK: %r = relay.min(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  %r = relay.min(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  func.return
}

// CHECK-LABEL: @prod(
func.func @prod(%x: tensor<4x8x2xf32>) {
  // CHECK: %r = relay.prod(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  %r = relay.prod(%x) {axis = [1]} : (tensor<4x8x2xf32>) -> tensor<4x2xf32>
  func.return
}

// CHECK-LABEL: @all_axes(
func.func @all_axes(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.sum(%x) : (tensor<2x3x4xf32>) -> tensor<f32>
  %r = relay.sum(%x) : (tensor<2x3x4xf32>) -> tensor<f32>
  func.return
}

// CHECK-LABEL: @keepdims(
func.func @keepdims(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.mean(%x) {axis = [1, -1], keepdims = true} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  %r = relay.mean(%x) {axis = [1, -1], keepdims = true} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  func.return
}

// CHECK-LABEL: @exclude(
func.func @exclude(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.max(%x) {axis = [1], exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %r = relay.max(%x) {axis = [1], exclude = true} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  func.return
}

// CHECK-LABEL: @named(
func.func @named(%x: tensor<?x4xf32, #relay.dims<n>>) {
  // CHECK: %r = relay.sum(%x) {axis = [1]} : (tensor<?x4xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %r = relay.sum(%x) {axis = [1]} : (tensor<?x4xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return
}
