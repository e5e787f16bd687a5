// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | xrelay-opt -p relay-infer-type | filecheck %s

// An argument without a type has that of its initial value; one with a name varies, and the result has another name.
// CHECK-LABEL: @growing(
func.func @growing(%n: tensor<i64>, %x: tensor<4xf32>) -> !relay.incomplete {
  // CHECK: relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>, %t = %x : tensor<4xf32>) to %n : tensor<i64>
  // CHECK-SAME: -> tuple<tensor<?xf32, #relay.dims<m_1>>, tensor<4xf32>, tensor<?x4xf32, #relay.dims<iterations>>> attributes {relay.binds = #relay.bounds<iterations, m_1>}
  %g = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>, %t : !relay.incomplete = %x : tensor<4xf32>) to %n : tensor<i64> -> !relay.incomplete {
    %p = relay.tuple(%s, %x) : (tensor<?xf32, #relay.dims<m>>, tensor<4xf32>) -> !relay.incomplete
    // CHECK: relay.concatenate(%p) {{.*}} -> tensor<?xf32, #relay.dims<m + 4>>
    %c = relay.concatenate(%p) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
    %a = relay.exp(%t) : (!relay.incomplete) -> !relay.incomplete
    %y = relay.tuple(%c, %a, %t) : (!relay.incomplete, !relay.incomplete, !relay.incomplete) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  func.return %g : !relay.incomplete
}

// The trip count bounds the number of iterations of a loop with a condition, and equals it without one.
// CHECK-LABEL: @known_count(
// CHECK-SAME: -> tuple<tensor<?xi64, #relay.dims<iterations>>, tensor<10xi64>>
func.func @known_count(%c: tensor<i1>) -> !relay.incomplete {
  %n = relay.constant dense<10> : tensor<i64>
  // CHECK: attributes {relay.binds = #relay.bounds<iterations <= 10>}
  %g = relay.loop(%i) to %n : tensor<i64> while %c : tensor<i1> -> !relay.incomplete {
    %y = relay.tuple(%c, %i) : (tensor<i1>, tensor<i64>) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  %h = relay.loop(%i) to %n : tensor<i64> -> !relay.incomplete {
    %y = relay.tuple(%i) : (tensor<i64>) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  %a = relay.tuple_get_item(%g) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %b = relay.tuple_get_item(%h) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %r = relay.tuple(%a, %b) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// A trip count that is an extent is the extent of the stacks; an invariant outer extent stays.
// CHECK-LABEL: @over_rows(
// CHECK-SAME: -> tuple<tensor<?xf32, #relay.dims<c>>, tensor<?x?xf32, #relay.dims<b, c>>>
func.func @over_rows(%x: tensor<?x?xf32, #relay.dims<b, c>>, %z: tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete {
  %zero = relay.constant dense<0> : tensor<i64>
  %shape = relay.shape_of(%x) {dtype = i64} : (tensor<?x?xf32, #relay.dims<b, c>>) -> !relay.incomplete
  %n = relay.take(%shape, %zero) {axis = 0} : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %g = relay.loop(%i, %t : !relay.incomplete = %z : tensor<?xf32, #relay.dims<c>>) to %n : !relay.incomplete -> !relay.incomplete {
    %v = relay.take(%x, %i) {axis = 0} : (tensor<?x?xf32, #relay.dims<b, c>>, tensor<i64>) -> !relay.incomplete
    %a = relay.add(%t, %v) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    %y = relay.tuple(%a, %a) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  func.return %g : !relay.incomplete
}

// An extent that an op of the body defines has another name after the loop, and after the loop around that.
// CHECK-LABEL: @made_inside(
func.func @made_inside(%n: tensor<i64>, %x: tensor<8xi1>) -> !relay.incomplete {
  // CHECK: relay.loop(%i) to %n : tensor<i64> -> tuple<tensor<?x?x?x1xi32, #relay.dims<iterations_1, iterations_2, k_1_1>>>
  %g = relay.loop(%i) to %n : tensor<i64> -> !relay.incomplete {
    // CHECK: relay.loop(%j) to %n : tensor<i64> -> tuple<tensor<?x?x1xi32, #relay.dims<iterations, k_1>>> attributes {relay.binds = #relay.bounds<iterations, k_1>}
    %h = relay.loop(%j) to %n : tensor<i64> -> !relay.incomplete {
      // CHECK: relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 8>}
      %w = relay.argwhere(%x) : (tensor<8xi1>) -> !relay.incomplete
      %y = relay.tuple(%w) : (!relay.incomplete) -> !relay.incomplete
      relay.yield %y : !relay.incomplete
    }
    %f = relay.tuple_get_item(%h) {index = 0} : (!relay.incomplete) -> !relay.incomplete
    %z = relay.tuple(%f) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %z : !relay.incomplete
  }
  func.return %g : !relay.incomplete
}

// Invariant extents are required unless a rule proves them.
// CHECK-LABEL: @demands(
func.func @demands(%n: tensor<i64>, %x: tensor<?xf32, #relay.dims<a>>, %y: tensor<?xf32, #relay.dims<b>>, %w: tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete {
  // CHECK: attributes {relay.binds = {{.*}}, relay.requires = #relay.requirements<b == a "C0 initial extent">}
  %g = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<?xf32, #relay.dims<a>>, %t : tensor<?xf32, #relay.dims<m>> = %y : tensor<?xf32, #relay.dims<b>>, %u : !relay.incomplete = %w : tensor<?xf32, #relay.dims<c>>) to %n : tensor<i64> -> !relay.incomplete {
    %z = relay.tuple(%t, %s, %y) : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<b>>) -> !relay.incomplete
    // CHECK: relay.yield %z {relay.requires = #relay.requirements<b == c "C0 yielded extent">}
    relay.yield %z : !relay.incomplete
  }
  func.return %g : !relay.incomplete
}

// An extent derived from a loop result has no new name, though the loop's types are known last.
// CHECK-LABEL: @follows(
func.func @follows(%n: tensor<i64>, %v: tensor<?x3xf32, #relay.dims<a>>) -> !relay.incomplete {
  %g = relay.loop(%i, %s : !relay.incomplete = %v : tensor<?x3xf32, #relay.dims<a>>) to %n : tensor<i64> -> !relay.incomplete {
    %z = relay.tuple(%s, %s) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    relay.yield %z : !relay.incomplete
  }
  %r = relay.tuple_get_item(%g) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %two = relay.tuple(%r, %v) : (!relay.incomplete, tensor<?x3xf32, #relay.dims<a>>) -> !relay.incomplete
  %c = relay.concatenate(%two) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
  %begin = relay.constant dense<1> : tensor<1xi64>
  %end = relay.constant dense<3> : tensor<1xi64>
  // CHECK: relay.dyn.strided_slice(%c, %begin, %end, %begin) : {{.*}} -> tensor<?x3xf32, #relay.dims<max(0, min(2 * a, 3) - 1)>>
  %y = relay.dyn.strided_slice(%c, %begin, %end, %begin) : (!relay.incomplete, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// The type of a loop's result is known late. Before, an element of the sequence has three extents with names that
// others determine, then one: the other names are replaced at all uses, and that of the last axis stays.
// CHECK-LABEL: @late(
// CHECK-SAME: -> tensor<?x3x?xf32, #relay.dims<m + 2, d2>>
func.func @late(%n: tensor<i64>, %p: tensor<2x3x?xf32, #relay.dims<h>>, %q: tensor<?x3x?xf32, #relay.dims<m, h>>) -> !relay.incomplete {
  %first = relay.constant dense<0> : tensor<i64>
  %l = relay.loop(%i, %c : !relay.incomplete = %p : tensor<2x3x?xf32, #relay.dims<h>>) to %n : tensor<i64> -> !relay.incomplete {
    %y = relay.tuple(%c) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %f = relay.fn(%a : tensor<?x?x?xf32, #relay.dims<a, b, c>>) -> tensor<?x?x?xf32, #relay.dims<a, b, c>> {
    relay.yield %a : tensor<?x?x?xf32, #relay.dims<a, b, c>>
  }
  %z = relay.invoke %f(%r) : (!relay.incomplete) -> !relay.incomplete of (tensor<?x?x?xf32, #relay.dims<a, b, c>>) -> tensor<?x?x?xf32, #relay.dims<a, b, c>>
  %s = relay.sequence_construct(%r) : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.sequence_at(%s, %first) {relay.binds = #relay.bounds<d2>} : {{.*}} -> tensor<2x3x?xf32, #relay.dims<d2>>
  %x = relay.sequence_at(%s, %first) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %t = relay.tuple(%x, %q) : (!relay.incomplete, tensor<?x3x?xf32, #relay.dims<m, h>>) -> !relay.incomplete
  // CHECK: relay.concatenate(%t) {relay.requires = #relay.requirements<d2 == h "C3 extents along axis 2 of the fields">}
  %u = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
  func.return %u : !relay.incomplete
}
