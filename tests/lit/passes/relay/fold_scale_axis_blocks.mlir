// RUN: xrelay-opt %s -p relay-fold-scale-axis,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p 'relay-fold-scale-axis{weights=any},relay-dead-code-elimination' | filecheck %s --check-prefix ANY

// Blocked channels: the factor is along the blocks and within them, as are the weight's out-channels.
// CHECK-LABEL: @backward(
// CHECK:         %[[W:.*]] = relay.constant {{.*}} : tensor<2x1x1x1x1x2xf32>
// CHECK:         %[[C:.*]] = relay.nn.conv2d(%x, %[[W]])
// CHECK:         %[[B:.*]] = relay.constant dense<{{.*}}6.000000e+00, 1.200000e+01{{.*}}1.800000e+01, 2.400000e+01{{.*}}> : tensor<1x2x1x1x2xf32>
// CHECK:         %[[D:.*]] = relay.add(%[[C]], %[[B]])
// CHECK:         %[[P:.*]] = relay.nn.max_pool2d(%[[D]])
// CHECK:         func.return %[[P]]
func.func @backward(%x: tensor<1x1x4x4x1xf32>) -> tensor<1x2x2x2x2xf32> {
  %w = relay.constant dense<1.0> : tensor<2x1x1x1x1x2xf32>
  %b = relay.constant dense<3.0> : tensor<1x2x1x1x2xf32>
  %s = relay.constant dense<[[[[2.0, 4.0]]], [[[6.0, 8.0]]]]> : tensor<2x1x1x2xf32>
  %c = relay.nn.conv2d(%x, %w) {data_layout = "NCHW1c", kernel_layout = "OIHW1i2o", out_layout = "NCHW2c"} : (tensor<1x1x4x4x1xf32>, tensor<2x1x1x1x1x2xf32>) -> tensor<1x2x4x4x2xf32>
  %d = relay.add(%c, %b) : (tensor<1x2x4x4x2xf32>, tensor<1x2x1x1x2xf32>) -> tensor<1x2x4x4x2xf32>
  %p = relay.nn.max_pool2d(%d) {pool_size = [2, 2], strides = [2, 2], layout = "NCHW2c"} : (tensor<1x2x4x4x2xf32>) -> tensor<1x2x2x2x2xf32>
  %y = relay.multiply(%p, %s) : (tensor<1x2x2x2x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x2x2x2xf32>
  func.return %y : tensor<1x2x2x2x2xf32>
}

// Before a convolution: the blocks of the data and of the weight's in-channels may differ.
// CHECK-LABEL: @forward(
// CHECK-NOT:     relay.multiply
// CHECK:         %[[B:.*]] = relay.constant dense<{{.*}}3.000000e+00, 2.000000e+00{{.*}}1.000000e+00, 7.500000e-01{{.*}}>
// CHECK:         relay.add(%x, %[[B]])
// CHECK-NOT:     relay.multiply
// ANY-LABEL: @forward(
func.func @forward(%x: tensor<1x2x4x4x2xf32>) -> tensor<1x1x4x4x2xf32> {
  %w = relay.constant dense<5.0> : tensor<1x1x1x1x4x2xf32>
  %b = relay.constant dense<6.0> : tensor<1x2x1x1x2xf32>
  %s = relay.constant dense<[[[[[2.0, 3.0]]], [[[6.0, 8.0]]]]]> : tensor<1x2x1x1x2xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4x2xf32>, tensor<1x2x1x1x2xf32>) -> tensor<1x2x4x4x2xf32>
  %a = relay.add(%m, %b) : (tensor<1x2x4x4x2xf32>, tensor<1x2x1x1x2xf32>) -> tensor<1x2x4x4x2xf32>
  %y = relay.nn.conv2d(%a, %w) {data_layout = "NCHW2c", kernel_layout = "OIHW4i2o"} : (tensor<1x2x4x4x2xf32>, tensor<1x1x1x1x4x2xf32>) -> tensor<1x1x4x4x2xf32>
  func.return %y : tensor<1x1x4x4x2xf32>
}

// A factor that varies along the blocks only, and a weight that is dynamic.
// ANY-LABEL: @values(
// ANY:         %[[Q:.*]] = relay.squeeze
// ANY:         %[[R:.*]] = relay.reshape(%[[Q]]) {newshape = [2, 1, 1, 1, 1, 2]}
// ANY:         %[[V:.*]] = relay.multiply(%w, %[[R]])
// ANY:         relay.nn.conv2d(%x, %[[V]])
// CHECK-LABEL: @values(
// CHECK:         relay.multiply
func.func @values(%x: tensor<1x1x4x4x2xf32>, %w: tensor<2x1x1x1x2x2xf32>) -> tensor<1x2x4x4x2xf32> {
  %s = relay.constant dense<[[[[2.0, 3.0]]], [[[-6.0, 8.0]]]]> : tensor<2x1x1x2xf32>
  %c = relay.nn.conv2d(%x, %w) {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x1x4x4x2xf32>, tensor<2x1x1x1x2x2xf32>) -> tensor<1x2x4x4x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2x4x4x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x4x4x2xf32>
  func.return %y : tensor<1x2x4x4x2xf32>
}

// A factor per block, along the blocks only.
// CHECK-LABEL: @along_blocks(
// CHECK-NOT:     relay.multiply
// ANY-LABEL: @along_blocks(
// ANY-NOT:       relay.multiply
func.func @along_blocks(%x: tensor<1x1x4x4x2xf32>) -> tensor<1x2x4x4x2xf32> {
  %w = relay.constant dense<1.5> : tensor<2x1x1x1x2x2xf32>
  %s = relay.constant dense<[[[[2.0]]], [[[6.0]]]]> : tensor<2x1x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x1x4x4x2xf32>, tensor<2x1x1x1x2x2xf32>) -> tensor<1x2x4x4x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2x4x4x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4x2xf32>
  func.return %y : tensor<1x2x4x4x2xf32>
}

// Rejected: a factor along the height, next to one along the blocks.
// CHECK-LABEL: @height(
// CHECK:         relay.multiply
// ANY-LABEL: @height(
func.func @height(%x: tensor<1x1x2x2x2xf32>) -> tensor<1x1x2x2x2xf32> {
  %w = relay.constant dense<1.5> : tensor<1x1x1x1x2x2xf32>
  %s = relay.constant dense<[[[2.0, 3.0]], [[4.0, 5.0]]]> : tensor<2x1x2xf32>
  %c = relay.nn.conv2d(%x, %w) {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x1x2x2x2xf32>, tensor<1x1x1x1x2x2xf32>) -> tensor<1x1x2x2x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x1x2x2x2xf32>, tensor<2x1x2xf32>) -> tensor<1x1x2x2x2xf32>
  func.return %y : tensor<1x1x2x2x2xf32>
}
