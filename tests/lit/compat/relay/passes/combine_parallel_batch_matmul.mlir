// RUN: xrelay-opt %s -p 'relay-combine-parallel-batch-matmul{min-num-branches=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-combine-parallel-batch-matmul | filecheck %s --check-prefix FEW

// CHECK-LABEL: @batch_matmul(
// FEW-LABEL: @batch_matmul(
func.func @batch_matmul(%x: tensor<2x3x4xf32>, %v: tensor<2x5x4xf32>, %w: tensor<2x6x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x6xf32>) {
  // FEW-COUNT-2: relay.nn.batch_matmul(%x
  // CHECK: %[[ALL:.*]] = relay.nn.batch_matmul(%x, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x11x4xf32>) -> tensor<2x3x11xf32>
  // CHECK: relay.strided_slice(%[[ALL]]) {begin = [0, 0, 0], end = [-1, -1, 5], strides = [1, 1, 1], slice_mode = "size"}
  // CHECK: relay.strided_slice(%[[ALL]]) {begin = [0, 0, 5], end = [-1, -1, 6], strides = [1, 1, 1], slice_mode = "size"}
  %a = relay.nn.batch_matmul(%x, %v) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %b = relay.nn.batch_matmul(%x, %w) : (tensor<2x3x4xf32>, tensor<2x6x4xf32>) -> tensor<2x3x6xf32>
  func.return %a, %b : tensor<2x3x5xf32>, tensor<2x3x6xf32>
}

// CHECK-LABEL: @biases(
func.func @biases(%x: tensor<2x3x4xf32>, %v: tensor<2x5x4xf32>, %w: tensor<2x6x4xf32>, %s: tensor<5xf32>, %t: tensor<6xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x6xf32>) {
  // CHECK: %[[ALL:.*]] = relay.nn.batch_matmul(%x, %{{.*}})
  // CHECK: %[[BIAS:.*]] = relay.concatenate(%{{.*}}) {axis = -1} : (tuple<tensor<5xf32>, tensor<6xf32>>) -> tensor<11xf32>
  // CHECK: %[[SUM:.*]] = relay.add(%[[ALL]], %[[BIAS]])
  // CHECK: relay.strided_slice(%[[SUM]])
  // CHECK: relay.strided_slice(%[[SUM]])
  %a = relay.nn.batch_matmul(%x, %v) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %a1 = relay.add(%a, %s) : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  %b = relay.nn.batch_matmul(%x, %w) : (tensor<2x3x4xf32>, tensor<2x6x4xf32>) -> tensor<2x3x6xf32>
  %b1 = relay.add(%b, %t) : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  func.return %a1, %b1 : tensor<2x3x5xf32>, tensor<2x3x6xf32>
}

// An operand that broadcasts along the columns of a branch cannot be combined.
// CHECK-LABEL: @broadcast(
func.func @broadcast(%x: tensor<2x3x4xf32>, %v: tensor<2x1x4xf32>, %w: tensor<2x1x4xf32>, %s: tensor<5xf32>, %t: tensor<5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  // CHECK: relay.nn.batch_matmul(%x, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x2x4xf32>)
  // CHECK-COUNT-2: relay.add{{.*}} : (tensor<2x3x1xf32>, tensor<5xf32>)
  %a = relay.nn.batch_matmul(%x, %v) : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x3x1xf32>
  %a1 = relay.add(%a, %s) : (tensor<2x3x1xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  %b = relay.nn.batch_matmul(%x, %w) : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x3x1xf32>
  %b1 = relay.add(%b, %t) : (tensor<2x3x1xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  func.return %a1, %b1 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}
