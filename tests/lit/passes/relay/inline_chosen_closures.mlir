// RUN: xrelay-opt %s -p relay-inline,relay-dead-code-elimination | filecheck %s

!t = tensor<f32>

// A closure that a run chooses is called in the branches that give it, once for each call.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %{{.*}} = relay.if %c : tensor<i1> -> tensor<f32> {
// CHECK-NEXT:      %[[S:.*]] = relay.add(%x, %y)
// CHECK-NEXT:      relay.yield %[[S]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:      %[[M:.*]] = relay.multiply(%y, %[[E]])
// CHECK-NEXT:      relay.yield %[[M]]
// CHECK-NEXT:    }
// CHECK-NEXT:    relay.if %c
// CHECK-NOT:     relay.fn
func.func @main(%c: tensor<i1>, %x: !t, %y: !t) -> (!t, !t) {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%x, %a) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %g = relay.if %c : tensor<i1> -> (!t) -> !t {
    relay.yield %f : (!t) -> !t
  } else {
    %e = relay.exp(%x) : (!t) -> !t
    %h = relay.fn(%a : !t) -> !t {
      %s = relay.multiply(%a, %e) : (!t, !t) -> !t
      relay.yield %s : !t
    }
    relay.yield %h : (!t) -> !t
  }
  %v = relay.let "v" = %g : (!t) -> !t
  %0 = relay.invoke %v(%y) : (!t) -> !t
  %1 = relay.invoke %g(%x) : (!t) -> !t
  func.return %0, %1 : !t, !t
}

// What a loop carries stays one that the run chooses.
// CHECK-LABEL: func.func @carried
// CHECK:         relay.invoke
func.func @carried(%f: (!t) -> !t, %y: !t) -> !t {
  %0 = relay.invoke %f(%y) : (!t) -> !t
  func.return %0 : !t
}
