// RUN: xrelay-opt %s -p 'relay-combine-parallel-dense{min-num-branches=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-combine-parallel-dense | filecheck %s --check-prefix FEW
// RUN: xrelay-opt %s -p 'relay-combine-parallel-dense{min-num-branches=2 to-batch=false}' | filecheck %s --check-prefix FLAT
// RUN: not xrelay-opt %s -p 'relay-combine-parallel-dense{min-num-branches=1}' 2>&1 | filecheck %s --check-prefix LEAST

// LEAST: error: relay-combine-parallel-dense: min-num-branches is 1, it must be at least 2

// A constant goes in front of the first product.
// CHECK-LABEL: @dense(
// FEW-LABEL: @dense(
// FLAT-LABEL: @dense(
func.func @dense(%x: tensor<3x4xf32>, %v: tensor<5x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  // CHECK: %[[DATA:.*]] = relay.stack(%{{.*}}) : (tuple<tensor<3x4xf32>, tensor<3x4xf32>>) -> tensor<2x3x4xf32>
  // CHECK: relay.nn.batch_matmul(%[[DATA]], %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  // CHECK: relay.split
  // FEW-COUNT-2: relay.nn.dense(%x
  // CHECK-NOT: relay.nn.dense
  // FLAT: %[[ALL:.*]] = relay.nn.dense(%x, %{{.*}}) : (tensor<3x4xf32>, tensor<10x4xf32>) -> tensor<3x10xf32>
  // FLAT: relay.strided_slice(%[[ALL]]) {begin = [0], end = [5], axes = [1]}
  // FLAT: relay.strided_slice(%[[ALL]]) {begin = [5], end = [10], axes = [1]}
  %a = relay.nn.dense(%x, %v) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %w = relay.constant dense<2.0> : tensor<5x4xf32>
  %b = relay.nn.dense(%x, %w) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  func.return %a, %b : tensor<3x5xf32>, tensor<3x5xf32>
}

// The second weight is made of the first product.
// CHECK-LABEL: @depends(
func.func @depends(%x: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-COUNT-2: relay.nn.dense
  %a = relay.nn.dense(%x, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense(%x, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %b : tensor<4x4xf32>
}
