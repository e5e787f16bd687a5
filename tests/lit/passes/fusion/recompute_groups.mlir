// RUN: xrelay-opt %s -p relay-fuse-ops,relay-recompute-groups | filecheck %s

// The difference to the mean is computed twice, and not stored.
// CHECK-LABEL: func.func @norm
// CHECK-NEXT: %[[MEAN:.*]] = relay.fused @fused_mean(%p0 = %x :
// CHECK: %[[SQUARE:.*]] = relay.fused @fused_subtract_multiply_mean(%p0 = %x : {{.*}}, %p1 = %[[MEAN]] : {{.*}}) {{.*}} "kCommReduce"
// CHECK-NEXT: %[[D:.*]] = relay.subtract(%p0, %p1)
// CHECK-NEXT: %[[P:.*]] = relay.multiply(%[[D]], %[[D]])
// CHECK-NEXT: relay.mean(%[[P]])
// CHECK: relay.fused @fused_subtract_multiply(%p0 = %[[SQUARE]] : {{.*}}, %p1 = %x : {{.*}}, %p2 = %[[MEAN]] :
// CHECK-NEXT: %[[E:.*]] = relay.subtract(%p1, %p2)
// CHECK-NEXT: relay.multiply(%[[E]], %p0)
func.func @norm(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %m = relay.mean(%x) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %d = relay.subtract(%x, %m) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %p = relay.multiply(%d, %d) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %v = relay.mean(%p) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %y = relay.multiply(%d, %v) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %y : tensor<4x64xf32>
}

// A chain: both groups move into the readers of the second one.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: relay.fused @fused_negative(
// CHECK: relay.fused @fused_negative_sum(%p0 = %x :
// CHECK: relay.fused @fused_negative_add_sum(
// CHECK: relay.fused @fused_negative_add_multiply(
func.func @chain(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %n = relay.negative(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = relay.sum(%n) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %a = relay.add(%n, %s) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %t = relay.sum(%a) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %y = relay.multiply(%a, %t) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %y : tensor<4x64xf32>
}

// exp takes long, two whole tensors take longer to read than one, and a result is stored anyway.
// CHECK-LABEL: func.func @stored
// CHECK: relay.fused @fused_exp
// CHECK: relay.fused @fused_add
// CHECK: relay.fused @fused_negative
// CHECK: relay.fused @fused_sum
// CHECK: relay.fused @fused_sum
// CHECK: relay.fused @fused_sum
func.func @stored(%x: tensor<4x64xf32>, %z: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
  %e = relay.exp(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %a = relay.add(%x, %z) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %n = relay.negative(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %0 = relay.sum(%e) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %1 = relay.sum(%a) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %2 = relay.sum(%n) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %3 = relay.multiply(%e, %0) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %4 = relay.multiply(%a, %1) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %5 = relay.multiply(%3, %2) : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  func.return %5, %4, %n : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
}

// A heavy group reads its operand many times.
// CHECK-LABEL: func.func @heavy
// CHECK: relay.fused @fused_negative
func.func @heavy(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %n = relay.negative(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %d = relay.nn.dense(%n, %w) : (tensor<4x64xf32>, tensor<8x64xf32>) -> tensor<4x8xf32>
  %s = relay.sum(%n) {axis = [1], keepdims = true} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  func.return %d, %s : tensor<4x8xf32>, tensor<4x1xf32>
}
