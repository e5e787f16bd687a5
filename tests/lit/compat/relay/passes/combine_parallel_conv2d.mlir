// RUN: xrelay-opt %s -p 'relay-combine-parallel-conv2d{min-num-branches=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-combine-parallel-conv2d | filecheck %s --check-prefix FEW

// A different window cannot be combined.
// CHECK-LABEL: @conv2d(
// FEW-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x4x8x8xf32>, %v: tensor<2x4x3x3xf32>, %w: tensor<4x4x3x3xf32>, %u: tensor<2x4x1x1xf32>) -> (tensor<1x2x6x6xf32>, tensor<1x2x8x8xf32>, tensor<1x4x6x6xf32>) {
  // CHECK: %[[FILTERS:.*]] = relay.concatenate(%{{.*}}) : (tuple<tensor<2x4x3x3xf32>, tensor<4x4x3x3xf32>>) -> tensor<6x4x3x3xf32>
  // CHECK: %[[ALL:.*]] = relay.nn.conv2d(%x, %[[FILTERS]]) {channels = 6}
  // CHECK: %[[A:.*]] = relay.strided_slice(%[[ALL]]) {begin = [0, 0], end = [-1, 2], strides = [1, 1], slice_mode = "size"}
  // CHECK: %[[C:.*]] = relay.strided_slice(%[[ALL]]) {begin = [0, 2], end = [-1, 4], strides = [1, 1], slice_mode = "size"}
  // CHECK: %[[B:.*]] = relay.nn.conv2d(%x, %u)
  // CHECK: func.return %[[A]], %[[B]], %[[C]]
  // FEW-COUNT-3: relay.nn.conv2d(%x
  %a = relay.nn.conv2d(%x, %v) {channels = 2} : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x6x6xf32>
  %b = relay.nn.conv2d(%x, %u) : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  %c = relay.nn.conv2d(%x, %w) {channels = 4} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return %a, %b, %c : tensor<1x2x6x6xf32>, tensor<1x2x8x8xf32>, tensor<1x4x6x6xf32>
}

// Biases and scales are concatenated along the channels; the last addition belongs to one branch only.
// CHECK-LABEL: @follow(
func.func @follow(%x: tensor<1x4x8x8xf32>, %v: tensor<2x4x3x3xf32>, %w: tensor<4x4x3x3xf32>, %s: tensor<2xf32>, %t: tensor<4xf32>, %p: tensor<2x1x1xf32>, %q: tensor<4x1x1xf32>) -> (tensor<1x2x6x6xf32>, tensor<1x4x6x6xf32>) {
  // CHECK: %[[ALL:.*]] = relay.nn.conv2d(%x, %{{.*}}) {channels = 6}
  // CHECK: %[[BIAS:.*]] = relay.concatenate(%{{.*}}) : (tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<6xf32>
  // CHECK: %[[SUM:.*]] = relay.nn.bias_add(%[[ALL]], %[[BIAS]])
  // CHECK: %[[FACTOR:.*]] = relay.concatenate(%{{.*}}) : (tuple<tensor<2x1x1xf32>, tensor<4x1x1xf32>>) -> tensor<6x1x1xf32>
  // CHECK: %[[SCALED:.*]] = relay.multiply(%[[FACTOR]], %[[SUM]])
  // CHECK: %[[POSITIVE:.*]] = relay.nn.relu(%[[SCALED]])
  // CHECK: %[[A:.*]] = relay.strided_slice(%[[POSITIVE]])
  // CHECK: %[[B:.*]] = relay.strided_slice(%[[POSITIVE]])
  // CHECK: %[[MORE:.*]] = relay.add(%[[B]], %q)
  // CHECK: func.return %[[A]], %[[MORE]]
  %a = relay.nn.conv2d(%x, %v) : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x6x6xf32>
  %a1 = relay.nn.bias_add(%a, %s) : (tensor<1x2x6x6xf32>, tensor<2xf32>) -> tensor<1x2x6x6xf32>
  %a2 = relay.multiply(%p, %a1) : (tensor<2x1x1xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %a3 = relay.nn.relu(%a2) : (tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %b = relay.nn.conv2d(%x, %w) : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %b1 = relay.nn.bias_add(%b, %t) : (tensor<1x4x6x6xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %q1 = relay.exp(%q) : (tensor<4x1x1xf32>) -> tensor<4x1x1xf32>
  %b2 = relay.multiply(%q1, %b1) : (tensor<4x1x1xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b3 = relay.nn.relu(%b2) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b4 = relay.add(%b3, %q) : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  func.return %a3, %b4 : tensor<1x2x6x6xf32>, tensor<1x4x6x6xf32>
}

// Each has its own scale for all its channels; a shared operand may stay single.
// CHECK-LABEL: @scales(
func.func @scales(%x: tensor<1x8x8x4xf32>, %v: tensor<3x3x4x2xf32>, %w: tensor<3x3x4x5xf32>, %s: tensor<1xf32>, %t: tensor<1xf32>) -> (tensor<1x6x6x2xf32>, tensor<1x6x6x5xf32>) {
  // CHECK: %[[ALL:.*]] = relay.nn.conv2d(%x, %{{.*}})
  // CHECK: %[[SHIFTED:.*]] = relay.add(%[[ALL]], %{{.*}}) : (tensor<1x6x6x7xf32>, tensor<f32>) -> tensor<1x6x6x7xf32>
  // CHECK: %[[A:.*]] = relay.strided_slice(%[[SHIFTED]]) {begin = [0, 0, 0, 0], end = [-1, -1, -1, 2]
  // CHECK: %[[B:.*]] = relay.strided_slice(%[[SHIFTED]]) {begin = [0, 0, 0, 2], end = [-1, -1, -1, 5]
  // CHECK: relay.multiply(%[[A]], %s)
  // CHECK: relay.multiply(%[[B]], %t)
  %a = relay.nn.conv2d(%x, %v) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x6x6x2xf32>
  %three = relay.constant dense<3.0> : tensor<f32>
  %a1 = relay.add(%a, %three) : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x6x6x2xf32>
  %a2 = relay.multiply(%a1, %s) : (tensor<1x6x6x2xf32>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  %b = relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
  %again = relay.constant dense<3.0> : tensor<f32>
  %b1 = relay.add(%b, %again) : (tensor<1x6x6x5xf32>, tensor<f32>) -> tensor<1x6x6x5xf32>
  %b2 = relay.multiply(%b1, %t) : (tensor<1x6x6x5xf32>, tensor<1xf32>) -> tensor<1x6x6x5xf32>
  func.return %a2, %b2 : tensor<1x6x6x2xf32>, tensor<1x6x6x5xf32>
}

// A value with two uses stays; so does a sum of both branches.
// CHECK-LABEL: @meet(
func.func @meet(%x: tensor<1x4x8x8xf32>, %v: tensor<2x4x3x3xf32>, %w: tensor<2x4x3x3xf32>) -> (tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>) {
  // CHECK: %[[ALL:.*]] = relay.nn.conv2d(%x, %{{.*}})
  // CHECK: %[[A:.*]] = relay.strided_slice(%[[ALL]])
  // CHECK: %[[B:.*]] = relay.strided_slice(%[[ALL]])
  // CHECK: relay.add(%[[A]], %[[B]])
  // CHECK: relay.nn.relu(%[[A]])
  %a = relay.nn.conv2d(%x, %v) : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x6x6xf32>
  %b = relay.nn.conv2d(%x, %w) : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x6x6xf32>
  %s = relay.add(%a, %b) : (tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %r = relay.nn.relu(%a) : (tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  func.return %s, %r : tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>
}
