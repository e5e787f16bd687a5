// RUN: xrelay-opt %s -p 'relay-combine-parallel-conv2d{min-num-branches=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-combine-parallel-conv2d | filecheck %s --check-prefix FEW

// Another window cannot be joined.
// CHECK-LABEL: @conv2d(
// FEW-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x4x8x8xf32>, %v: tensor<2x4x3x3xf32>, %w: tensor<4x4x3x3xf32>, %u: tensor<2x4x1x1xf32>) -> (tensor<1x2x6x6xf32>, tensor<1x2x8x8xf32>, tensor<1x4x6x6xf32>) {
  // CHECK: %[[FILTERS:.*]] = relay.concatenate(%{{.*}}) : (tuple<tensor<2x4x3x3xf32>, tensor<4x4x3x3xf32>>) -> tensor<6x4x3x3xf32>
  // CHECK: %[[ALL:.*]] = relay.nn.conv2d(%x, %[[FILTERS]])
  // CHECK: %[[A:.*]] = relay.strided_slice(%[[ALL]]) {begin = [0], end = [2], axes = [1]}
  // CHECK: %[[C:.*]] = relay.strided_slice(%[[ALL]]) {begin = [2], end = [6], axes = [1]}
  // CHECK: %[[B:.*]] = relay.nn.conv2d(%x, %u)
  // CHECK: func.return %[[A]], %[[B]], %[[C]]
  // FEW-COUNT-3: relay.nn.conv2d(%x
  %a = relay.nn.conv2d(%x, %v) {channels = 2} : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x6x6xf32>
  %b = relay.nn.conv2d(%x, %u) : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  %c = relay.nn.conv2d(%x, %w) {channels = 4} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return %a, %b, %c : tensor<1x2x6x6xf32>, tensor<1x2x8x8xf32>, tensor<1x4x6x6xf32>
}
