// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @transpose(
func.func @transpose(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.transpose(%x) : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %r = relay.transpose(%x) : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  func.return
}

// CHECK-LABEL: @transpose_axes(
func.func @transpose_axes(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.transpose(%x) {axes = [1, 0, -1]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %r = relay.transpose(%x) {axes = [1, 0, -1]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  func.return
}

// CHECK-LABEL: @layout_transform(
func.func @layout_transform(%x: tensor<1x8x6x6xf32>) {
  // CHECK: %r = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x6x6xf32>) -> tensor<1x2x6x6x4xf32>
  %r = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x6x6xf32>) -> tensor<1x2x6x6x4xf32>
  func.return
}

// CHECK-LABEL: @layout_transform_rounds_up(
func.func @layout_transform_rounds_up(%x: tensor<1x6x6x6xf32>) {
  // CHECK: %r = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC4c"} : (tensor<1x6x6x6xf32>) -> tensor<1x6x6x2x4xf32>
  %r = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC4c"} : (tensor<1x6x6x6xf32>) -> tensor<1x6x6x2x4xf32>
  func.return
}

// CHECK-LABEL: @layout_transform_weight(
func.func @layout_transform_weight(%x: tensor<8x4x3x3xf32>) {
  // CHECK: %r = relay.layout_transform(%x) {src_layout = "OIHW", dst_layout = "OIHW2i4o"} : (tensor<8x4x3x3xf32>) -> tensor<2x2x3x3x2x4xf32>
  %r = relay.layout_transform(%x) {src_layout = "OIHW", dst_layout = "OIHW2i4o"} : (tensor<8x4x3x3xf32>) -> tensor<2x2x3x3x2x4xf32>
  func.return
}

// CHECK-LABEL: @pad(
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // CHECK: %r = relay.nn.pad(%x, %v) {pad_width = [0, 1, 1, 2]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %r = relay.nn.pad(%x, %v) {pad_width = [0, 1, 1, 2]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  func.return
}

// CHECK-LABEL: @pad_reflect(
func.func @pad_reflect(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // CHECK: %r = relay.nn.pad(%x, %v) {pad_width = [0, 1, 1, 1], pad_mode = "reflect"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  %r = relay.nn.pad(%x, %v) {pad_width = [0, 1, 1, 1], pad_mode = "reflect"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  func.return
}
