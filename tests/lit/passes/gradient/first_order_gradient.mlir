// RUN: xrelay-opt %s -p relay-first-order-gradient | filecheck %s

// The first operand is used twice, and the second is repeated along an axis.
// CHECK-LABEL: @sums(
// CHECK-SAME:    -> (tensor<3x4xf32>, tuple<tensor<3x4xf32>, tensor<4xf32>>)
// CHECK:         %[[M:.*]] = relay.multiply(%x, %y)
// CHECK-NEXT:    %[[R:.*]] = relay.add(%[[M]], %x)
// CHECK-NEXT:    %[[O:.*]] = relay.ones_like(%[[R]])
// CHECK-NEXT:    %[[X:.*]] = relay.multiply(%[[O]], %y)
// CHECK-NEXT:    %[[P:.*]] = relay.multiply(%[[O]], %x)
// CHECK-NEXT:    %[[Y:.*]] = relay.collapse_sum_like(%[[P]], %y) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[S:.*]] = relay.add(%[[O]], %[[X]])
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[S]], %[[Y]])
// CHECK-NEXT:    func.return %[[R]], %[[T]]
func.func @sums(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %m = relay.multiply(%x, %y) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %r = relay.add(%m, %x) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

// A parameter that does not affect the result has a gradient of zeros. Unrelated ops need no gradient rule.
// CHECK-LABEL: @beside(
// CHECK:         %[[R:.*]] = relay.multiply(%x, %{{.*}})
// CHECK-NEXT:    %[[O:.*]] = relay.ones_like(%[[R]])
// CHECK-NEXT:    %[[M:.*]] = relay.multiply(%[[O]], %{{.*}})
// CHECK-NEXT:    %[[Z:.*]] = relay.zeros_like(%y)
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[M]], %[[Z]])
func.func @beside(%x: tensor<4xf32>, %y: tensor<4xi32>) -> tensor<4xf32> {
  %n = relay.bitwise_not(%y) : (tensor<4xi32>) -> tensor<4xi32>
  %k = relay.constant dense<1> : tensor<4xi32>
  %m = relay.bitwise_not(%k) : (tensor<4xi32>) -> tensor<4xi32>
  %f = relay.cast(%m) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %r = relay.multiply(%x, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Several results are one tuple, and the gradient of a tuple is a tuple.
// CHECK-LABEL: @tuples(
// CHECK-SAME:    -> (tuple<tensor<4xf32>, tensor<2xf32>>, tuple<tuple<tensor<4xf32>, tensor<2xf32>>>)
// CHECK:         %[[A:.*]] = relay.tuple_get_item(%t) {index = 0}
// CHECK-NEXT:    %[[L:.*]] = relay.let "l" = %[[A]]
// CHECK:         %[[P:.*]] = relay.tuple(%[[D:.*]], %[[B:.*]]) :
// CHECK:         %[[G:.*]] = relay.tuple(%[[X:.*]], %[[Y:.*]]) : (tensor<4xf32>, tensor<2xf32>) -> tuple
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[G]])
// CHECK-NEXT:    func.return %[[P]], %[[T]]
func.func @tuples(%t: tuple<tensor<4xf32>, tensor<2xf32>>) -> (tensor<4xf32>, tensor<2xf32>) {
  %a = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<4xf32>
  %l = relay.let "l" = %a : tensor<4xf32>
  %d = relay.add(%l, %l) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  func.return %d, %b : tensor<4xf32>, tensor<2xf32>
}

// Values that only a branch needs are computed in it, also in the backward pass.
// CHECK-LABEL: @branches(
// CHECK:         %[[R:.*]] = relay.if %c
// CHECK-NEXT:      %[[M:.*]] = relay.divide(%x, %y)
// CHECK:         %[[O:.*]] = relay.ones_like(%[[R]])
// CHECK-NEXT:    %[[B:.*]] = relay.if %c : tensor<i1> -> tuple<tensor<4xf32>, tensor<4xf32>> {
// CHECK-NEXT:      %[[N:.*]] = relay.divide(%x, %y)
// CHECK-NEXT:      %[[P:.*]] = relay.divide(%[[O]], %y)
// CHECK:           relay.yield
// CHECK-NEXT:    } else {
// CHECK:           %[[Z:.*]] = relay.zeros_like(%y)
// CHECK-NEXT:      %[[T:.*]] = relay.tuple(%[[O]], %[[Z]])
// CHECK-NEXT:      relay.yield %[[T]]
// CHECK:         %{{.*}} = relay.tuple_get_item(%[[B]]) {index = 0}
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %m = relay.divide(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %m : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// Called functions are inlined; a kernel is unchanged.
// CHECK-LABEL: @calls(
// CHECK:         relay.add(%x, %x)
// CHECK-NOT:     call
// CHECK:         func.return %{{.*}}, %{{.*}} : tensor<4xf32>, tuple<tensor<4xf32>>
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: @kernel(
// CHECK-SAME:    -> tensor<4xf32>
func.func @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  func.return %x : tensor<4xf32>
}
