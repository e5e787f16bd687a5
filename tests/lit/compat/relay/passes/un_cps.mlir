// RUN: xrelay-opt %s -p relay-un-cps | filecheck %s

// The continuation becomes a closure that returns its argument.
// CHECK-LABEL: func.func @fires(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %k = relay.fn(%[[A:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %y = relay.exp(%x)
// CHECK-NEXT:    %r = relay.invoke %k(%y)
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @fires(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.invoke %k(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// The fields of a tuple become results again.
// CHECK-LABEL: func.func @pair(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK:         %r = relay.invoke %k(%t)
// CHECK-NEXT:    %[[A:.*]] = relay.tuple_get_item(%r) {index = 0}
// CHECK-NEXT:    %[[B:.*]] = relay.tuple_get_item(%r) {index = 1}
// CHECK-NEXT:    func.return %[[A]], %[[B]]
func.func @pair(%x: tensor<4xf32>, %k: (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %t = relay.tuple(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %r = relay.invoke %k(%t) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %r : tuple<tensor<4xf32>, tensor<4xf32>>
}

// Unchanged: a function without a continuation, one that does not end in it, and one that others call.
// CHECK-LABEL: func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func @other(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<f32>) -> tensor<f32>
func.func @other(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<f32>) -> tensor<f32> {
  %r = relay.invoke %k(%x) : (tensor<4xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
// CHECK-LABEL: func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         func.call @called_cps(%x, %k)
func.func @caller(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @called_cps(%x, %k) : (tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
// CHECK-LABEL: func.func private @called_cps(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<4xf32>)
func.func private @called_cps(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.invoke %k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
