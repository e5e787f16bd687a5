// RUN: xrelay-opt %s -p relay-fuse-ops | filecheck %s

// Ops with possible side effects stay in place, used or not: a call of a function without a body, and of its callers.
// An unused call of a pure function is removed.
// CHECK-LABEL: func.func @main
// CHECK:         %[[E:.*]] = relay.fused @fused_exp
// CHECK:         func.call @note(%[[E]])
// CHECK:         func.call @notes(%x)
// CHECK-NOT:     @only_computes
// CHECK:         relay.fused @fused_log
func.func private @note(tensor<4xf32>) -> ()
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.call @note(%e) : (tensor<4xf32>) -> ()
  %n = func.call @notes(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @only_computes(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.log(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @notes(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.call @note(%x) : (tensor<4xf32>) -> ()
  func.return %x : tensor<4xf32>
}
func.func private @only_computes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
