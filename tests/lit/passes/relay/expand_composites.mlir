// RUN: xrelay-opt %s -p relay-expand-composites | filecheck %s

// Two reductions: each may fuse with its own neighbours.
// CHECK-LABEL: @two_reductions(
func.func @two_reductions(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: relay.max(%x) {axis = [1], keepdims = true}
  // CHECK: relay.sum(%{{.*}}) {axis = [1], keepdims = true}
  // CHECK-NOT: relay.logsumexp
  // CHECK: relay.squeeze
  %y = relay.logsumexp(%x) {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// The composite has its own pattern: it fuses as a whole, and its kernel expands it.
// CHECK-LABEL: @own_pattern(
func.func @own_pattern(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: relay.nn.mish
  // CHECK-NEXT: relay.nn.log_softmax
  // CHECK-NEXT: func.return
  %y = relay.nn.mish(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = relay.nn.log_softmax(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// With unknown types there is no expansion.
// CHECK-LABEL: @incomplete(
func.func @incomplete(%x: !relay.incomplete) -> !relay.incomplete {
  // CHECK: relay.logsumexp
  %y = relay.logsumexp(%x) : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// f16 is computed in f32 between two casts.
// CHECK-LABEL: @half(
func.func @half(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  // CHECK-NEXT: relay.cast(%x) {dtype = f32}
  // CHECK: relay.cast(%{{.*}}) {dtype = f16}
  // CHECK-NEXT: func.return
  %y = relay.logsumexp(%x) {axis = [1]} : (tensor<4x8xf16>) -> tensor<4xf16>
  func.return %y : tensor<4xf16>
}
