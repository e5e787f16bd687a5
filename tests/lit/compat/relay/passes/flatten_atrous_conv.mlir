// RUN: xrelay-opt %s -p relay-flatten-atrous-conv | filecheck %s

// CHECK-LABEL: @dilated(
func.func @dilated(%x: tensor<1x5x5x4xf32>, %w: tensor<3x3x4x1xf32>) -> tensor<1x5x5x4xf32> {
  // CHECK-NEXT: relay.nn.conv2d(%x, %w) {padding = [2, 2, 2, 2], dilation = [2, 2], groups = 4, data_layout = "NHWC", kernel_layout = "HWOI"}
  // CHECK-NEXT: func.return
  %s = relay.nn.space_to_batch_nd(%x) {block_shape = [2, 2], paddings = [2, 3, 2, 3]} : (tensor<1x5x5x4xf32>) -> tensor<4x5x5x4xf32>
  %c = relay.nn.conv2d(%s, %w) {groups = 4, data_layout = "NHWC", kernel_layout = "HWOI"} : (tensor<4x5x5x4xf32>, tensor<3x3x4x1xf32>) -> tensor<4x3x3x4xf32>
  %y = relay.nn.batch_to_space_nd(%c) {block_shape = [2, 2], crops = [0, 1, 0, 1]} : (tensor<4x3x3x4xf32>) -> tensor<1x5x5x4xf32>
  func.return %y : tensor<1x5x5x4xf32>
}

// Unchanged: an op in between, and padding with another number.
// CHECK-LABEL: @left_alone(
func.func @left_alone(%x: tensor<1x5x5x4xf32>, %w: tensor<3x3x4x4xf32>) -> (tensor<1x5x5x4xf32>, tensor<1x5x5x4xf32>) {
  // CHECK: relay.nn.space_to_batch_nd
  // CHECK: relay.nn.relu
  // CHECK: relay.nn.batch_to_space_nd
  // CHECK: relay.nn.space_to_batch_nd
  // CHECK: relay.nn.batch_to_space_nd
  %s = relay.nn.space_to_batch_nd(%x) {block_shape = [2, 2], paddings = [2, 3, 2, 3]} : (tensor<1x5x5x4xf32>) -> tensor<4x5x5x4xf32>
  %r = relay.nn.relu(%s) : (tensor<4x5x5x4xf32>) -> tensor<4x5x5x4xf32>
  %c = relay.nn.conv2d(%r, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<4x5x5x4xf32>, tensor<3x3x4x4xf32>) -> tensor<4x3x3x4xf32>
  %y = relay.nn.batch_to_space_nd(%c) {block_shape = [2, 2], crops = [0, 1, 0, 1]} : (tensor<4x3x3x4xf32>) -> tensor<1x5x5x4xf32>
  %t = relay.nn.space_to_batch_nd(%x) {block_shape = [2, 2], paddings = [2, 3, 2, 3], pad_value = 1.0} : (tensor<1x5x5x4xf32>) -> tensor<4x5x5x4xf32>
  %d = relay.nn.conv2d(%t, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<4x5x5x4xf32>, tensor<3x3x4x4xf32>) -> tensor<4x3x3x4xf32>
  %z = relay.nn.batch_to_space_nd(%d) {block_shape = [2, 2], crops = [0, 1, 0, 1]} : (tensor<4x3x3x4xf32>) -> tensor<1x5x5x4xf32>
  func.return %y, %z : tensor<1x5x5x4xf32>, tensor<1x5x5x4xf32>
}
