// RUN: xrelay-opt %s -p relay-outline-fused | filecheck %s

// Branches and loops keep their regions; their result and carried tuples are flat, and built where they are yielded.
// CHECK-LABEL: func.func @regions
// CHECK:         %[[R:.*]] = relay.if %c : tensor<i1> -> tuple<tensor<4xf32>, tensor<4xf32>> {
// CHECK-NEXT:      %[[A:.*]] = func.call @fused_abs(%x)
// CHECK-NEXT:      %[[T:.*]] = relay.tuple(%[[A]], %x)
// CHECK-NEXT:      relay.yield %[[T]]
// CHECK:         %[[F:.*]] = relay.tuple_get_item(%[[R]]) {index = 0}
// CHECK-NEXT:    %[[G:.*]] = relay.tuple_get_item(%[[R]]) {index = 1}
// CHECK-NEXT:    %[[L:.*]] = relay.loop(%i, %{{.*}} = %[[F]] : tensor<4xf32>, %[[S:.*]] = %[[G]] : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>, tensor<4xf32>>
// CHECK-NEXT:      %[[B:.*]] = func.call @fused_abs(%[[S]])
// CHECK-NEXT:      %[[U:.*]] = relay.tuple(%[[B]], %[[F]])
// CHECK-NEXT:      relay.yield %[[U]]
// CHECK:         func.return
func.func @regions(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>> {
    %a = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %i = relay.tuple(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    %t = relay.tuple(%a, %i) : (tensor<4xf32>, tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
    relay.yield %t : tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
  } else {
    %i = relay.tuple(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    %t = relay.tuple(%x, %i) : (tensor<4xf32>, tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
    relay.yield %t : tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
  }
  %l = relay.loop(%i, %p = %r : tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) to %n : tensor<i64> -> tuple<tuple<tensor<4xf32>, tuple<tensor<4xf32>>>> {
    %q = relay.tuple_get_item(%p) {index = 1} : (tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
    %s = relay.tuple_get_item(%q) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
    %a = relay.abs(%s) : (tensor<4xf32>) -> tensor<4xf32>
    %o = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) -> tensor<4xf32>
    %u = relay.tuple(%o) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    %t = relay.tuple(%a, %u) : (tensor<4xf32>, tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
    %y = relay.tuple(%t) : (tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) -> tuple<tuple<tensor<4xf32>, tuple<tensor<4xf32>>>>
    relay.yield %y : tuple<tuple<tensor<4xf32>, tuple<tensor<4xf32>>>>
  }
  %m = relay.tuple_get_item(%l) {index = 0} : (tuple<tuple<tensor<4xf32>, tuple<tensor<4xf32>>>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
  %f = relay.tuple_get_item(%m) {index = 0} : (tuple<tensor<4xf32>, tuple<tensor<4xf32>>>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}
