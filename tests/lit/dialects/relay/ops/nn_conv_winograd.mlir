// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @transform(
func.func @transform(%w: tensor<8x4x3x3xf32>) {
  // CHECK: relay.nn.contrib_conv2d_winograd_weight_transform(%w) : (tensor<8x4x3x3xf32>) -> tensor<6x6x8x4xf32>
  %a = relay.nn.contrib_conv2d_winograd_weight_transform(%w) : (tensor<8x4x3x3xf32>) -> tensor<6x6x8x4xf32>
  // CHECK: relay.nn.contrib_conv2d_winograd_weight_transform(%w) {tile_size = 2} : (tensor<8x4x3x3xf32>) -> tensor<4x4x8x4xf32>
  %b = relay.nn.contrib_conv2d_winograd_weight_transform(%w) {tile_size = 2} : (tensor<8x4x3x3xf32>) -> tensor<4x4x8x4xf32>
  func.return
}

// CHECK-LABEL: @conv(
func.func @conv(%x: tensor<2x4x7x7xf32>, %b: tensor<2x1x7x7x4xf32>, %w: tensor<6x6x8x4xf32>, %v: tensor<1x4x4x4x8xf32>) {
  // CHECK: relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {padding = [1, 1, 1, 1], channels = 8, kernel_size = [3, 3]}
  %a = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %w) {padding = [1, 1, 1, 1], channels = 8, kernel_size = [3, 3]} : (tensor<2x4x7x7xf32>, tensor<6x6x8x4xf32>) -> tensor<2x8x7x7xf32>
  // CHECK: relay.nn.contrib_conv2d_winograd_without_weight_transform(%b, %v)
  %c = relay.nn.contrib_conv2d_winograd_without_weight_transform(%b, %v) {tile_size = 2, data_layout = "NCHW4c", kernel_layout = "OHWI8o", out_layout = "NCHW8c"} : (tensor<2x1x7x7x4xf32>, tensor<1x4x4x4x8xf32>) -> tensor<2x1x5x5x8xf32>
  func.return
}
