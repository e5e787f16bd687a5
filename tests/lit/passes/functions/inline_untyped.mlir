// RUN: xrelay-opt %s -p relay-inline | filecheck %s

// Calls of closures without a type: the inlined results have types, and so does the function's signature.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<?x1xi32, #relay.dims<[[A:.*]]>>, tensor<?x1xi32, #relay.dims<[[B:.*]]>>)
// CHECK:         relay.argwhere(%x) {relay.binds = #relay.bounds<[[A]] <= 5>}
// CHECK:         relay.argwhere(%y) {relay.binds = #relay.bounds<[[B]] <= 5>}
// CHECK-NOT:     relay.invoke
func.func @main(%x: tensor<5xf32>, %y: tensor<5xf32>) -> (!relay.incomplete, !relay.incomplete) {
  %f = relay.fn(%p : tensor<5xf32>) -> tensor<?x1xi32> {
    %i = relay.argwhere(%p) : (tensor<5xf32>) -> tensor<?x1xi32>
    relay.yield %i : tensor<?x1xi32>
  }
  %0 = relay.invoke %f(%x) : (tensor<5xf32>) -> !relay.incomplete of (tensor<5xf32>) -> tensor<?x1xi32>
  %1 = relay.invoke %f(%y) : (tensor<5xf32>) -> !relay.incomplete of (tensor<5xf32>) -> tensor<?x1xi32>
  func.return %0, %1 : !relay.incomplete, !relay.incomplete
}
