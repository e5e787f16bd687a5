// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @defaults(
func.func @defaults(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK-LABEL: @all_attributes(
func.func @all_attributes(%x: tensor<1x4x9x9xf32>, %w: tensor<8x2x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {strides = [2, 2], padding = [1, 0, 2, 1], dilation = [1, 2], groups = 2, channels = 8, kernel_size = [3, 3]} : (tensor<1x4x9x9xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x5x3xf32>
  %r = relay.nn.conv2d(%x, %w) {strides = [2, 2], padding = [1, 0, 2, 1], dilation = [1, 2], groups = 2, channels = 8, kernel_size = [3, 3]} : (tensor<1x4x9x9xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x5x3xf32>
  func.return
}

// CHECK-LABEL: @short_padding(
func.func @short_padding(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {padding = [1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = relay.nn.conv2d(%x, %w) {padding = [1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  func.return
}

// CHECK-LABEL: @depthwise(
func.func @depthwise(%x: tensor<1x4x8x8xf32>, %w: tensor<4x1x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {groups = 4} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  %r = relay.nn.conv2d(%x, %w) {groups = 4} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// CHECK-LABEL: @channels_last(
func.func @channels_last(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  %r = relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  func.return
}

// CHECK-LABEL: @blocked(
func.func @blocked(%x: tensor<1x2x8x8x16xf32>, %w: tensor<4x2x3x3x16x8xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i8o", out_layout = "NCHW8c"} : (tensor<1x2x8x8x16xf32>, tensor<4x2x3x3x16x8xf32>) -> tensor<1x4x6x6x8xf32>
  %r = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i8o", out_layout = "NCHW8c"} : (tensor<1x2x8x8x16xf32>, tensor<4x2x3x3x16x8xf32>) -> tensor<1x4x6x6x8xf32>
  func.return
}

// CHECK-LABEL: @out_dtype(
func.func @out_dtype(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {out_dtype = i32} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>) -> tensor<1x4x6x6xi32>
  %r = relay.nn.conv2d(%x, %w) {out_dtype = i32} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>) -> tensor<1x4x6x6xi32>
  func.return
}

// CHECK-LABEL: @named_batch(
func.func @named_batch(%x: tensor<?x3x?x8xf32, #relay.dims<n, h>>, %w: tensor<4x3x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {strides = [2, 2]} : (tensor<?x3x?x8xf32, #relay.dims<n, h>>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x3xf32, #relay.dims<n, (h + 1) floordiv 2 - 1>>
  %r = relay.nn.conv2d(%x, %w) {strides = [2, 2]} : (tensor<?x3x?x8xf32, #relay.dims<n, h>>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x3xf32, #relay.dims<n, (h + 1) floordiv 2 - 1>>
  func.return
}

// CHECK-LABEL: @untyped(
func.func @untyped(%x: tensor<1x3x8x8xf32>, %w: !relay.incomplete) {
  // CHECK: %r = relay.nn.conv2d(%x, %w) {channels = 4, kernel_size = [3, 3]} : (tensor<1x3x8x8xf32>, !relay.incomplete) -> !relay.incomplete
  %r = relay.nn.conv2d(%x, %w) {channels = 4, kernel_size = [3, 3]} : (tensor<1x3x8x8xf32>, !relay.incomplete) -> !relay.incomplete
  func.return
}

// Convolutions over other numbers of spatial axes have the same properties, with their own defaults.
// CHECK-LABEL: @conv1d(
func.func @conv1d(%x: tensor<1x4x9xf32>, %w: tensor<8x2x3xf32>) {
  // CHECK: %r = relay.nn.conv1d(%x, %w) {strides = [2], padding = [1], dilation = [2], groups = 2, channels = 8, kernel_size = [3]} : (tensor<1x4x9xf32>, tensor<8x2x3xf32>) -> tensor<1x8x4xf32>
  %r = relay.nn.conv1d(%x, %w) {strides = [2], padding = [1], dilation = [2], groups = 2, channels = 8, kernel_size = [3]} : (tensor<1x4x9xf32>, tensor<8x2x3xf32>) -> tensor<1x8x4xf32>
  func.return
}

// CHECK-LABEL: @conv1d_last(
func.func @conv1d_last(%x: tensor<1x9x4xf32>, %w: tensor<3x4x8xf32>) {
  // CHECK: %r = relay.nn.conv1d(%x, %w) {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x9x4xf32>, tensor<3x4x8xf32>) -> tensor<1x7x8xf32>
  %r = relay.nn.conv1d(%x, %w) {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x9x4xf32>, tensor<3x4x8xf32>) -> tensor<1x7x8xf32>
  func.return
}

// CHECK-LABEL: @conv3d(
func.func @conv3d(%x: tensor<1x4x5x6x7xf32>, %w: tensor<8x4x3x3x3xf32>) {
  // CHECK: %r = relay.nn.conv3d(%x, %w) {padding = [1, 1, 1, 1, 1, 1]} : (tensor<1x4x5x6x7xf32>, tensor<8x4x3x3x3xf32>) -> tensor<1x8x5x6x7xf32>
  %r = relay.nn.conv3d(%x, %w) {padding = [1, 1, 1, 1, 1, 1]} : (tensor<1x4x5x6x7xf32>, tensor<8x4x3x3x3xf32>) -> tensor<1x8x5x6x7xf32>
  func.return
}

// CHECK-LABEL: @conv3d_last(
func.func @conv3d_last(%x: tensor<1x5x6x7x4xf32>, %w: tensor<3x3x3x4x8xf32>) {
  // CHECK: %r = relay.nn.conv3d(%x, %w) {strides = [2, 1, 1], data_layout = "NDHWC", kernel_layout = "DHWIO"} : (tensor<1x5x6x7x4xf32>, tensor<3x3x3x4x8xf32>) -> tensor<1x2x4x5x8xf32>
  %r = relay.nn.conv3d(%x, %w) {strides = [2, 1, 1], data_layout = "NDHWC", kernel_layout = "DHWIO"} : (tensor<1x5x6x7x4xf32>, tensor<3x3x3x4x8xf32>) -> tensor<1x2x4x5x8xf32>
  func.return
}

// CHECK-LABEL: @depthwise1d(
func.func @depthwise1d(%x: tensor<1x4x9xf32>, %w: tensor<4x1x3xf32>) {
  // CHECK: %r = relay.nn.conv1d(%x, %w) {groups = 4} : (tensor<1x4x9xf32>, tensor<4x1x3xf32>) -> tensor<1x4x7xf32>
  %r = relay.nn.conv1d(%x, %w) {groups = 4} : (tensor<1x4x9xf32>, tensor<4x1x3xf32>) -> tensor<1x4x7xf32>
  func.return
}

// CHECK-LABEL: @conv2d_backward_weight(
func.func @conv2d_backward_weight(%g: tensor<2x12x12x8xf32>, %x: tensor<2x4x12x12xf32>) {
  // CHECK: %r = relay.nn.conv2d_backward_weight(%g, %x) {padding = [1, 1, 1, 1], groups = 2, kernel_size = [3, 3], grad_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<2x12x12x8xf32>, tensor<2x4x12x12xf32>) -> tensor<3x3x2x8xf32>
  %r = relay.nn.conv2d_backward_weight(%g, %x) {padding = [1, 1, 1, 1], groups = 2, kernel_size = [3, 3], grad_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<2x12x12x8xf32>, tensor<2x4x12x12xf32>) -> tensor<3x3x2x8xf32>
  func.return
}
