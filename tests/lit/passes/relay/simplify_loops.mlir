// RUN: xrelay-opt %s -p relay-simplify-loops,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p relay-simplify-loops --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// The body uses the outside value, and the items of the result have new numbers.
// CHECK-LABEL: func.func @weight
// CHECK:         %[[L:.*]] = relay.loop(%{{.*}}, %s = %x : tensor<2x4xf32>) to %n : tensor<i64> -> tuple<tensor<2x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>> {
// CHECK-NEXT:      %[[T:.*]] = relay.nn.dense(%s, %w)
// CHECK-NEXT:      %[[Y:.*]] = relay.tuple(%[[T]], %s)
// CHECK-NEXT:      relay.yield %[[Y]]
// CHECK:         %[[S:.*]] = relay.tuple_get_item(%[[L]]) {index = 0}
// CHECK:         %[[K:.*]] = relay.tuple_get_item(%[[L]]) {index = 1}
// CHECK:         func.return %[[S]], %w, %[[K]]
// REMARK:        relay.loop: 1 of 2 carried values are the same in all iterations
func.func @weight(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %n: tensor<i64>)
    -> (tensor<2x4xf32>, tensor<4x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>) {
  %l = relay.loop(%i, %v = %w : tensor<4x4xf32>, %s = %x : tensor<2x4xf32>) to %n : tensor<i64>
      -> tuple<tensor<4x4xf32>, tensor<2x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>> {
    %t = relay.nn.dense(%s, %v) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %y = relay.tuple(%v, %t, %s) : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
        -> tuple<tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>>
    relay.yield %y : tuple<tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>>
  }
  %a = relay.tuple_get_item(%l) {index = 1}
      : (tuple<tensor<4x4xf32>, tensor<2x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>>) -> tensor<2x4xf32>
  %b = relay.tuple_get_item(%l) {index = 0}
      : (tuple<tensor<4x4xf32>, tensor<2x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>>) -> tensor<4x4xf32>
  %c = relay.tuple_get_item(%l) {index = 2}
      : (tuple<tensor<4x4xf32>, tensor<2x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>>)
      -> tensor<?x2x4xf32, #relay.dims<k>>
  func.return %a, %b, %c : tensor<2x4xf32>, tensor<4x4xf32>, tensor<?x2x4xf32, #relay.dims<k>>
}

// A condition precedes the carried values, and a use of the whole result gets a tuple of the same fields. The inner loop
// carries what the outer one carries.
// CHECK-LABEL: func.func @nested
// CHECK:         %[[L:.*]] = relay.loop(%{{.*}}, %s = %x : tensor<4xf32>) while %c : tensor<i1> -> tuple<tensor<4xf32>> {
// CHECK:           relay.loop(%{{.*}}, %r = %s : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
// CHECK-NEXT:        relay.add(%r, %w)
// CHECK:           relay.tuple(%go, %{{.*}}) : (tensor<i1>, tensor<4xf32>)
// CHECK:         %[[S:.*]] = relay.tuple_get_item(%[[L]]) {index = 0}
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[S]], %w)
// CHECK-NEXT:    func.return %[[T]]
func.func @nested(%x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<i64>, %c: tensor<i1>)
    -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %l = relay.loop(%i, %s = %x : tensor<4xf32>, %v = %w : tensor<4xf32>) while %c : tensor<i1>
      -> tuple<tensor<4xf32>, tensor<4xf32>> {
    %m = relay.loop(%j, %r = %s : tensor<4xf32>, %u = %v : tensor<4xf32>) to %n : tensor<i64>
        -> tuple<tensor<4xf32>, tensor<4xf32>> {
      %p = relay.add(%r, %u) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %q = relay.tuple(%p, %u) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
      relay.yield %q : tuple<tensor<4xf32>, tensor<4xf32>>
    }
    %t = relay.tuple_get_item(%m) {index = 0} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
    %go = relay.less(%i, %n) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %y = relay.tuple(%go, %t, %v) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>)
        -> tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>>
    relay.yield %y : tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>>
  }
  func.return %l : tuple<tensor<4xf32>, tensor<4xf32>>
}

// Nothing is left to carry, values that change places are carried, and a body that names an extent keeps its value.
// CHECK-LABEL: func.func @others
// CHECK:         relay.loop(%{{.*}}, %s = %x : tensor<4xf32>) to
// CHECK:         relay.loop(%{{.*}}, %s_1 = %x : tensor<4xf32>, %v = %w : tensor<4xf32>) to
// CHECK:         relay.loop(%{{.*}}, %s_2 : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>, %{{.*}} = %w : tensor<4xf32>) to
func.func @others(%x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<i64>)
    -> (tuple<tensor<4xf32>>, tuple<tensor<4xf32>, tensor<4xf32>>, tuple<tensor<?xf32, #relay.dims<k>>, tensor<4xf32>>) {
  %a = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %y = relay.tuple(%s) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %b = relay.loop(%i, %s = %x : tensor<4xf32>, %v = %w : tensor<4xf32>) to %n : tensor<i64>
      -> tuple<tensor<4xf32>, tensor<4xf32>> {
    %y = relay.tuple(%v, %s) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>, tensor<4xf32>>
  }
  %c = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>, %v = %w : tensor<4xf32>)
      to %n : tensor<i64> -> tuple<tensor<?xf32, #relay.dims<k>>, tensor<4xf32>> {
    %t = relay.negative(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%s, %t) : (tensor<?xf32, #relay.dims<m>>, tensor<4xf32>)
        -> tuple<tensor<?xf32, #relay.dims<m>>, tensor<4xf32>>
    relay.yield %y : tuple<tensor<?xf32, #relay.dims<m>>, tensor<4xf32>>
  }
  func.return %a, %b, %c : tuple<tensor<4xf32>>, tuple<tensor<4xf32>, tensor<4xf32>>, tuple<tensor<?xf32, #relay.dims<k>>, tensor<4xf32>>
}
