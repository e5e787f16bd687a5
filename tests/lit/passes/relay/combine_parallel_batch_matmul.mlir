// RUN: xrelay-opt %s -p 'relay-combine-parallel-batch-matmul{min-num-branches=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-combine-parallel-batch-matmul | filecheck %s --check-prefix FEW

// CHECK-LABEL: @batch_matmul(
// FEW-LABEL: @batch_matmul(
func.func @batch_matmul(%x: tensor<2x3x4xf32>, %v: tensor<2x5x4xf32>, %w: tensor<2x6x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x6xf32>) {
  // FEW-COUNT-2: relay.nn.batch_matmul(%x
  // CHECK: %[[ALL:.*]] = relay.nn.batch_matmul(%x, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x11x4xf32>) -> tensor<2x3x11xf32>
  // CHECK: relay.strided_slice(%[[ALL]]) {begin = [0], end = [5], axes = [2]}
  // CHECK: relay.strided_slice(%[[ALL]]) {begin = [5], end = [11], axes = [2]}
  %a = relay.nn.batch_matmul(%x, %v) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %b = relay.nn.batch_matmul(%x, %w) : (tensor<2x3x4xf32>, tensor<2x6x4xf32>) -> tensor<2x3x6xf32>
  func.return %a, %b : tensor<2x3x5xf32>, tensor<2x3x6xf32>
}
