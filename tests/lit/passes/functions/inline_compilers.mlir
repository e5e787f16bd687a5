// RUN: xrelay-opt %s -p relay-inline | filecheck %s

// A function for an external compiler stays, with its body.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %y = func.call @theirs(%x)
// CHECK-NEXT:    %z = relay.exp(%y)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @theirs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @ours(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func private @theirs(
// CHECK-NEXT:    %f = relay.fn
// CHECK:         relay.invoke %f(%a)
func.func private @theirs(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "c"} {
  %f = relay.fn(%p : tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "c.negative"} {
    %n = relay.negative(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %n : tensor<4xf32>
  }
  %r = relay.invoke %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-NOT:   @ours
func.func private @ours(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
