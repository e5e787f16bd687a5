// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-inline | filecheck %s --check-prefix=INLINED

// Each call binds the names of a closure's parameters, and names the extents that its body defines.
// CHECK-LABEL: func.func @closures(
// CHECK:         relay.fn(%a: tensor<?xf32, #relay.dims<k>>) -> tensor<?xf32, #relay.dims<2 * k>>
// CHECK:         relay.argwhere(%a_1) {relay.binds = #relay.bounds<k_1 <= j>}
// CHECK:         relay.invoke %f(%x) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<2 * m>> of
// CHECK-NEXT:    relay.invoke %f(%y) : (tensor<5xf32>) -> tensor<10xf32> of
// CHECK-NEXT:    relay.invoke %g(%x, %y) {relay.binds = #relay.bounds<k_1_1>, relay.requires = #relay.requirements<5 == m "C0 argument extent">} : ({{.*}}) -> tensor<?x1xi32, #relay.dims<k_1_1>> of
// INLINED-LABEL: func.func @closures(
// INLINED-NOT:     relay.invoke
// INLINED:         relay.concatenate({{.*}}) -> tensor<?xf32, #relay.dims<2 * m>>
// INLINED:         relay.concatenate({{.*}}) -> tensor<10xf32>
// INLINED:         relay.argwhere(%x) {relay.binds = #relay.bounds<k_1_1 <= m>}
// INLINED-NEXT:    relay.require({{.*}}) {demands = #relay.requirements<5 == m "C0 argument extent">
func.func @closures(%x: tensor<?xf32, #relay.dims<m>>, %y: tensor<5xf32>) -> !relay.incomplete {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete {
    %t = relay.tuple(%a, %a) : (tensor<?xf32, #relay.dims<k>>, tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
    %b = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
    relay.yield %b : !relay.incomplete
  }
  %g = relay.fn(%a : tensor<?xf32, #relay.dims<j>>, %b : tensor<?xf32, #relay.dims<j>>) -> !relay.incomplete {
    %i = relay.argwhere(%a) : (tensor<?xf32, #relay.dims<j>>) -> !relay.incomplete
    relay.yield %i : !relay.incomplete
  }
  %0 = relay.invoke %f(%x) : (tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
  %1 = relay.invoke %f(%y) : (tensor<5xf32>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
  %2 = relay.invoke %g(%x, %y) : (tensor<?xf32, #relay.dims<m>>, tensor<5xf32>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<j>>, tensor<?xf32, #relay.dims<j>>) -> !relay.incomplete
  %r = relay.tuple(%0, %1, %2) : (!relay.incomplete, !relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// An outer name has the same meaning in the closure.
// CHECK-LABEL: func.func @captured(
// CHECK:         relay.invoke %f(%y) {relay.requires = #relay.requirements<p == m "C0 argument extent">} : (tensor<?xf32, #relay.dims<p>>) -> tensor<?xf32, #relay.dims<m>> of
func.func @captured(%x: tensor<?xf32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> {
    %b = relay.add(%a, %x) : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
    relay.yield %b : tensor<?xf32, #relay.dims<m>>
  }
  %0 = relay.invoke %f(%y) : (tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
  func.return %0 : !relay.incomplete
}

// The branches in the closure have the same extent at this call: the `if` still defines an extent.
// CHECK-LABEL: func.func @agreeing(
// CHECK:         relay.invoke %f(%x) {relay.binds = #relay.bounds<d0_1>}
// INLINED-LABEL: func.func @agreeing(
// INLINED:         relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<d0_1>> attributes {relay.binds = #relay.bounds<d0_1>} {
// INLINED:           relay.yield %{{.*}} : tensor<?xf32, #relay.dims<n>>
func.func @agreeing(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete {
    %b = relay.if %c : tensor<i1> -> !relay.incomplete {
      relay.yield %a : tensor<?xf32, #relay.dims<k>>
    } else {
      relay.yield %x : tensor<?xf32, #relay.dims<n>>
    }
    relay.yield %b : !relay.incomplete
  }
  %r = relay.invoke %f(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// A recursive function binds its parameters in each call, and returns an extent of its own.
// CHECK-LABEL: func.func @grows(
// CHECK: relay.fn rec(%self)(%i: tensor<i1>, %r: tensor<?xf32, #relay.dims<d0>>) -> tensor<?xf32, #relay.dims<d1>>
// CHECK: relay.if %i : tensor<i1> -> tensor<?xf32, #relay.dims<d1>> attributes {relay.binds = #relay.bounds<d1>}
// CHECK: relay.concatenate(%t)
// CHECK-SAME: -> tensor<?xf32, #relay.dims<d0 + 1>>
// CHECK: relay.invoke %self(%no, %l) {relay.binds = #relay.bounds<d1_2>}
func.func @grows(%x: tensor<1xf32>, %more: tensor<i1>) -> !relay.incomplete {
  %f = relay.fn rec(%self)(%i: tensor<i1>, %r: tensor<?xf32>) -> tensor<?xf32> {
    %y = relay.if %i : tensor<i1> -> tensor<?xf32> {
      %t = relay.tuple(%r, %x) : (tensor<?xf32>, tensor<1xf32>) -> !relay.incomplete
      %l = relay.concatenate(%t) : (!relay.incomplete) -> tensor<?xf32>
      %no = relay.logical_not(%i) : (tensor<i1>) -> tensor<i1>
      %s = relay.invoke %self(%no, %l) : (tensor<i1>, tensor<?xf32>) -> !relay.incomplete of (tensor<i1>, tensor<?xf32>) -> tensor<?xf32>
      relay.yield %s : !relay.incomplete
    } else {
      relay.yield %r : tensor<?xf32>
    }
    relay.yield %y : tensor<?xf32>
  }
  %z = relay.invoke %f(%more, %x) : (tensor<i1>, tensor<1xf32>) -> !relay.incomplete of (tensor<i1>, tensor<?xf32>) -> tensor<?xf32>
  func.return %z : !relay.incomplete
}

// The types at a closure's call propagate to it through names and tuples, and those of its result back.
// CHECK-LABEL: func.func @bound(
// CHECK:         %{{.*}} = relay.fn(%v: tensor<i32>) -> tensor<i32> {
// CHECK:         %f = relay.let "f"
// CHECK-LABEL: func.func @in_a_tuple(
// CHECK:         relay.fn(%v: tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32> {
func.func @bound(%x: tensor<i32>) -> !relay.incomplete {
  %0 = relay.fn(%v: !relay.incomplete) -> !relay.incomplete {
    relay.yield %v : !relay.incomplete
  }
  %f = relay.let "f" = %0 : (!relay.incomplete) -> !relay.incomplete
  %1 = relay.invoke %f(%x) : (tensor<i32>) -> !relay.incomplete of (!relay.incomplete) -> !relay.incomplete
  func.return %1 : !relay.incomplete
}
func.func @in_a_tuple(%x: tensor<i32>, %y: tensor<4xf32>) -> !relay.incomplete {
  %0 = relay.fn(%v: !relay.incomplete) -> !relay.incomplete {
    %a = relay.tuple_get_item(%v) {index = 1} : (!relay.incomplete) -> !relay.incomplete
    relay.yield %a : !relay.incomplete
  }
  %t = relay.tuple(%x, %0) : (tensor<i32>, (!relay.incomplete) -> !relay.incomplete) -> !relay.incomplete
  %u = relay.let "u" = %t : !relay.incomplete
  %f = relay.tuple_get_item(%u) {index = 1} : (!relay.incomplete) -> !relay.incomplete
  %p = relay.tuple(%x, %y) : (tensor<i32>, tensor<4xf32>) -> !relay.incomplete
  %1 = relay.invoke %f(%p) : (!relay.incomplete) -> !relay.incomplete of !relay.incomplete
  func.return %1 : !relay.incomplete
}
