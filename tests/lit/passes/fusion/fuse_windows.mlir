// RUN: xrelay-opt %s -p relay-infer-type,relay-fuse-ops | filecheck %s

// Convolutions and pools fuse with the elementwise ops after them, in any number of spatial axes; pools begin a kernel.
// CHECK-LABEL: func.func @one_axis
// CHECK: relay.fused @fused_nn_conv1d_nn_bias_add_nn_relu({{.*}} attributes {anchor = "nn.conv1d", pattern = "kOutEWiseFusable"}
// CHECK: relay.fused @fused_nn_max_pool1d({{.*}} attributes {anchor = "nn.max_pool1d", pattern = "kOutEWiseFusable"}
// CHECK: relay.fused @fused_nn_conv1d_transpose_nn_bias_add_nn_relu({{.*}} attributes {anchor = "nn.conv1d_transpose", pattern = "kOutEWiseFusable"}
func.func @one_axis(%x: tensor<1x8x20xf32>, %w: tensor<16x8x3xf32>, %b: tensor<16xf32>, %v: tensor<16x4x4xf32>, %c: tensor<4xf32>) -> tensor<1x4x18xf32> {
  %y = relay.nn.conv1d(%x, %w) : (tensor<1x8x20xf32>, tensor<16x8x3xf32>) -> tensor<1x16x18xf32>
  %z = relay.nn.bias_add(%y, %b) : (tensor<1x16x18xf32>, tensor<16xf32>) -> tensor<1x16x18xf32>
  %r = relay.nn.relu(%z) : (tensor<1x16x18xf32>) -> tensor<1x16x18xf32>
  %p = relay.nn.max_pool1d(%r) {pool_size = [2], strides = [2]} : (tensor<1x16x18xf32>) -> tensor<1x16x9xf32>
  %t = relay.nn.conv1d_transpose(%p, %v) {strides = [2], padding = [1, 1]} : (tensor<1x16x9xf32>, tensor<16x4x4xf32>) -> tensor<1x4x18xf32>
  %s = relay.nn.bias_add(%t, %c) : (tensor<1x4x18xf32>, tensor<4xf32>) -> tensor<1x4x18xf32>
  %u = relay.nn.relu(%s) : (tensor<1x4x18xf32>) -> tensor<1x4x18xf32>
  func.return %u : tensor<1x4x18xf32>
}

// The indices of maxima are a separate kernel.
// CHECK-LABEL: func.func @places
// CHECK: relay.fused @fused_nn_conv3d_nn_relu(
// CHECK: relay.fused @fused_nn_max_pool3d_indices(
func.func @places(%x: tensor<1x2x4x5x5xf32>, %w: tensor<3x2x2x2x2xf32>) -> tensor<1x3x2x3x3xi64> {
  %y = relay.nn.conv3d(%x, %w) : (tensor<1x2x4x5x5xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x3x4x4xf32>
  %r = relay.nn.relu(%y) : (tensor<1x3x3x4x4xf32>) -> tensor<1x3x3x4x4xf32>
  %i = relay.nn.max_pool3d_indices(%r) {pool_size = [2, 2, 2]} : (tensor<1x3x3x4x4xf32>) -> tensor<1x3x2x3x3xi64>
  func.return %i : tensor<1x3x2x3x3xi64>
}
