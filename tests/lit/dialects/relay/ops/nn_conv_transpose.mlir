// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @defaults(
func.func @defaults(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d_transpose(%x, %w) : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> tensor<1x4x10x10xf32>
  %r = relay.nn.conv2d_transpose(%x, %w) : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> tensor<1x4x10x10xf32>
  func.return
}

// CHECK-LABEL: @all_attributes(
func.func @all_attributes(%x: tensor<1x4x9x9xf32>, %w: tensor<4x2x3x3xf32>) {
  // CHECK: %r = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 3], padding = [1, 0, 2, 1], dilation = [1, 2], groups = 2, channels = 4, kernel_size = [3, 3], output_padding = [1, 0]} : (tensor<1x4x9x9xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x17x28xf32>
  %r = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 3], padding = [1, 0, 2, 1], dilation = [1, 2], channels = 4, kernel_size = [3, 3], groups = 2, output_padding = [1, 0]} : (tensor<1x4x9x9xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x17x28xf32>
  func.return
}

// CHECK-LABEL: @channels_last(
func.func @channels_last(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x4x3xf32>) {
  // CHECK: %r = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 2], data_layout = "NHWC", kernel_layout = "HWOI"} : (tensor<1x8x8x3xf32>, tensor<3x3x4x3xf32>) -> tensor<1x17x17x4xf32>
  %r = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 2], data_layout = "NHWC", kernel_layout = "HWOI"} : (tensor<1x8x8x3xf32>, tensor<3x3x4x3xf32>) -> tensor<1x17x17x4xf32>
  func.return
}

// CHECK-LABEL: @conv1d_transpose(
func.func @conv1d_transpose(%x: tensor<1x4x9xf32>, %w: tensor<4x2x3xf32>) {
  // CHECK: %r = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1], output_padding = [1]} : (tensor<1x4x9xf32>, tensor<4x2x3xf32>) -> tensor<1x2x18xf32>
  %r = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1], output_padding = [1]} : (tensor<1x4x9xf32>, tensor<4x2x3xf32>) -> tensor<1x2x18xf32>
  func.return
}

// CHECK-LABEL: @conv3d_transpose(
func.func @conv3d_transpose(%x: tensor<1x4x3x4x5xf32>, %w: tensor<4x2x2x2x2xf32>) {
  // CHECK: %r = relay.nn.conv3d_transpose(%x, %w) {strides = [2, 2, 2], out_dtype = f32} : (tensor<1x4x3x4x5xf32>, tensor<4x2x2x2x2xf32>) -> tensor<1x2x6x8x10xf32>
  %r = relay.nn.conv3d_transpose(%x, %w) {strides = [2, 2, 2], out_dtype = f32} : (tensor<1x4x3x4x5xf32>, tensor<4x2x2x2x2xf32>) -> tensor<1x2x6x8x10xf32>
  func.return
}

// CHECK-LABEL: @named(
func.func @named(%x: tensor<?x4x?xf32, #relay.dims<n, w>>, %w: tensor<4x2x4xf32>) {
  // CHECK: %r = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1]} : (tensor<?x4x?xf32, #relay.dims<n, w>>, tensor<4x2x4xf32>) -> tensor<?x2x?xf32, #relay.dims<n, 2 * w>>
  %r = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1]} : (tensor<?x4x?xf32, #relay.dims<n, w>>, tensor<4x2x4xf32>) -> tensor<?x2x?xf32, #relay.dims<n, 2 * w>>
  func.return
}
