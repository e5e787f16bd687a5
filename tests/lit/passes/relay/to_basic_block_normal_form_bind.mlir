// RUN: xrelay-opt %s -p 'relay-to-basic-block-normal-form{bind=true}' | filecheck %s

// A value that only both branches use is bound where it is computed; a value with uses in its own block is not.
// CHECK-LABEL: func.func @both
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:    %[[L:.*]] = relay.let "e" = %[[E]]
// CHECK-NEXT:    %[[A:.*]] = relay.abs(%x)
// CHECK-NEXT:    %[[R:.*]] = relay.if %c
// CHECK-NEXT:      relay.yield %[[L]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.add(%[[L]], %[[A]])
// CHECK:         relay.add(%[[R]], %[[A]])
func.func @both(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %e : tensor<4xf32>
  } else {
    %s = relay.add(%e, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %t = relay.add(%r, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// An outer value of a closure is bound outside; constants and values bound by lets stay.
// CHECK-LABEL: func.func @closure
// CHECK-NEXT:    %[[N:.*]] = relay.constant
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:    %[[L:.*]] = relay.let "x" = %[[E]]
// CHECK-NEXT:    %[[S:.*]] = relay.sigmoid(%x)
// CHECK-NEXT:    %[[V:.*]] = relay.let "v" = %[[S]]
// CHECK-NEXT:    %[[F:.*]] = relay.fn
// CHECK-NEXT:      relay.add(%{{.*}}, %[[L]])
// CHECK-NEXT:      relay.add(%{{.*}}, %[[N]])
// CHECK-NEXT:      relay.add(%{{.*}}, %[[V]])
// CHECK-NOT:     relay.let
func.func @closure(%x: tensor<f32>) -> tensor<f32> {
  %n = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.exp(%x) : (tensor<f32>) -> tensor<f32>
  %s = relay.sigmoid(%x) : (tensor<f32>) -> tensor<f32>
  %v = relay.let "v" = %s : tensor<f32>
  %f = relay.fn(%a : tensor<f32>) -> tensor<f32> {
    %1 = relay.add(%a, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = relay.add(%1, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = relay.add(%2, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %3 : tensor<f32>
  }
  %r = relay.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
