// RUN: xrelay-opt %s -p 'relay-combine-parallel-dense{min-num-branches=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-combine-parallel-dense | filecheck %s --check-prefix FEW
// RUN: xrelay-opt %s -p 'relay-combine-parallel-dense{min-num-branches=2 to-batch=false}' | filecheck %s --check-prefix FLAT
// RUN: not xrelay-opt %s -p 'relay-combine-parallel-dense{min-num-branches=1}' 2>&1 | filecheck %s --check-prefix LEAST

// LEAST: error: relay-combine-parallel-dense: min-num-branches is 1, it must be at least 2

// The combined constant is before the first product.
// CHECK-LABEL: @dense(
// FEW-LABEL: @dense(
// FLAT-LABEL: @dense(
func.func @dense(%x: tensor<3x4xf32>, %v: tensor<5x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  // CHECK: %[[DATA:.*]] = relay.stack(%{{.*}}) : (tuple<tensor<3x4xf32>, tensor<3x4xf32>>) -> tensor<2x3x4xf32>
  // CHECK: relay.nn.batch_matmul(%[[DATA]], %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  // CHECK: relay.split
  // FEW-COUNT-2: relay.nn.dense(%x
  // CHECK-NOT: relay.nn.dense
  // FLAT: %[[ALL:.*]] = relay.nn.dense(%x, %{{.*}}) {units = 10} : (tensor<3x4xf32>, tensor<10x4xf32>) -> tensor<3x10xf32>
  // FLAT: relay.strided_slice(%[[ALL]]) {begin = [0, 0], end = [-1, 5], strides = [1, 1], slice_mode = "size"}
  // FLAT: relay.strided_slice(%[[ALL]]) {begin = [0, 5], end = [-1, 5], strides = [1, 1], slice_mode = "size"}
  %a = relay.nn.dense(%x, %v) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %w = relay.constant dense<2.0> : tensor<5x4xf32>
  %b = relay.nn.dense(%x, %w) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  func.return %a, %b : tensor<3x5xf32>, tensor<3x5xf32>
}

// The second weight is computed from the first product.
// CHECK-LABEL: @depends(
func.func @depends(%x: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-COUNT-2: relay.nn.dense
  %a = relay.nn.dense(%x, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.dense(%x, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %b : tensor<4x4xf32>
}

// A stack adds biases with one more axis; the shared scale stays. Without a stack, short scales are repeated.
// CHECK-LABEL: @follow(
// FLAT-LABEL: @follow(
func.func @follow(%x: tensor<3x4xf32>, %v: tensor<5x4xf32>, %w: tensor<5x4xf32>, %s: tensor<5xf32>, %t: tensor<5xf32>, %p: tensor<1xf32>, %q: tensor<f32>) -> (tensor<3x5x1xf32>, tensor<3x5x1xf32>) {
  // CHECK: %[[ALL:.*]] = relay.nn.batch_matmul
  // CHECK: %[[BIAS:.*]] = relay.stack(%{{.*}}) : (tuple<tensor<1x5xf32>, tensor<1x5xf32>>) -> tensor<2x1x5xf32>
  // CHECK: %[[SUM:.*]] = relay.add(%[[ALL]], %[[BIAS]])
  // CHECK: %[[SCALED:.*]] = relay.multiply(%[[SUM]], %q)
  // CHECK: relay.split(%[[SCALED]]) {indices_or_sections = 2}
  // CHECK-COUNT-2: relay.expand_dims(%{{.*}}) {axis = 2}
  // FLAT: %[[ALL:.*]] = relay.nn.dense(%x, %{{.*}}) {units = 10}
  // FLAT: %[[SUM:.*]] = relay.nn.bias_add(%[[ALL]], %{{.*}}) : (tensor<3x10xf32>, tensor<10xf32>)
  // FLAT: %[[SCALED:.*]] = relay.multiply(%[[SUM]], %q)
  // FLAT: %[[WIDE:.*]] = relay.expand_dims(%[[SCALED]]) {axis = 2}
  // FLAT: relay.strided_slice(%[[WIDE]]) {begin = [0, 0, 0], end = [-1, 5, -1]
  %a = relay.nn.dense(%x, %v) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %a1 = relay.nn.bias_add(%a, %s) : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %a2 = relay.multiply(%a1, %q) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %a3 = relay.expand_dims(%a2) {axis = 2} : (tensor<3x5xf32>) -> tensor<3x5x1xf32>
  %b = relay.nn.dense(%x, %w) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %b1 = relay.nn.bias_add(%b, %t) : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %b2 = relay.multiply(%b1, %q) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %b3 = relay.expand_dims(%b2) {axis = 2} : (tensor<3x5xf32>) -> tensor<3x5x1xf32>
  func.return %a3, %b3 : tensor<3x5x1xf32>, tensor<3x5x1xf32>
}

// CHECK-LABEL: @repeated(
// FLAT-LABEL: @repeated(
func.func @repeated(%x: tensor<3x4xf32>, %v: tensor<5x4xf32>, %w: tensor<6x4xf32>, %p: tensor<1xf32>, %q: tensor<6xf32>, %s: tensor<f32>, %t: tensor<f32>) -> (tensor<3x5xf32>, tensor<3x6xf32>) {
  // CHECK-COUNT-2: relay.nn.dense(%x
  // FLAT: relay.nn.dense(%x, %{{.*}}) {units = 11}
  // FLAT: relay.repeat(%p) {repeats = 5}
  // FLAT: relay.multiply{{.*}} : (tensor<3x11xf32>, tensor<11xf32>)
  // FLAT: relay.repeat(%{{.*}}) {repeats = 5}
  // FLAT: relay.repeat(%{{.*}}) {repeats = 6}
  // FLAT: relay.subtract{{.*}} : (tensor<11xf32>, tensor<3x11xf32>)
  %a = relay.nn.dense(%x, %v) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %a1 = relay.multiply(%a, %p) : (tensor<3x5xf32>, tensor<1xf32>) -> tensor<3x5xf32>
  %a2 = relay.subtract(%s, %a1) : (tensor<f32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %b = relay.nn.dense(%x, %w) : (tensor<3x4xf32>, tensor<6x4xf32>) -> tensor<3x6xf32>
  %b1 = relay.multiply(%b, %q) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  %b2 = relay.subtract(%t, %b1) : (tensor<f32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  func.return %a2, %b2 : tensor<3x5xf32>, tensor<3x6xf32>
}

// The addend of the second product has no axis of units.
// CHECK-LABEL: @ranks(
// FLAT-LABEL: @ranks(
// FLAT: relay.nn.dense(%x, %{{.*}}) {units = 4}
// FLAT-COUNT-2: relay.add
func.func @ranks(%x: tensor<3x4xf32>, %v: tensor<2x4xf32>, %s: tensor<2xf32>, %t: tensor<f32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %a = relay.nn.dense(%x, %v) : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  %b = relay.add(%a, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %c = relay.nn.dense(%x, %v) : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  %d = relay.add(%c, %t) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  func.return %b, %d : tensor<3x2xf32>, tensor<3x2xf32>
}
