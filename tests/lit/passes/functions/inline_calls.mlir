// RUN: xrelay-opt %s -p relay-infer-type,relay-inline | filecheck %s
// RUN: xrelay-opt %s -p "relay-infer-type,relay-inline{marked=true}" | filecheck %s --check-prefix=MARKED

// The callee's names are replaced by the call's; extents that ops of the body define get new names at each call.
// CHECK-LABEL: func.func @copied(
// CHECK:         relay.concatenate({{.*}}) -> tensor<?xf32, #relay.dims<4 * m>>
// CHECK-NEXT:    relay.argwhere(%x) {relay.binds = #relay.bounds<k_1 <= 2 * m>} : ({{.*}}) -> tensor<?x1xi32, #relay.dims<k_1>>
// CHECK:         relay.concatenate({{.*}}) -> tensor<10xf32>
// CHECK-NEXT:    relay.argwhere(%y) {relay.binds = #relay.bounds<k_2 <= 5>} : ({{.*}}) -> tensor<?x1xi32, #relay.dims<k_2>>
// CHECK-NOT:   @twice
// MARKED-LABEL: func.func @copied(
// MARKED:        relay.call @twice<n = 2 * m, k = k_1>
func.func @copied(%x: tensor<?xf32, #relay.dims<2 * m>>, %y: tensor<5xf32>, %k: tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete {
  %0, %1 = relay.call @twice(%x) : (tensor<?xf32, #relay.dims<2 * m>>) -> (!relay.incomplete, !relay.incomplete)
  %2, %3 = relay.call @twice(%y) : (tensor<5xf32>) -> (!relay.incomplete, !relay.incomplete)
  %r = relay.tuple(%0, %1, %2, %3) : (!relay.incomplete, !relay.incomplete, !relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
func.func private @twice(%x: tensor<?xf32, #relay.dims<n>>) -> (!relay.incomplete, !relay.incomplete) {
  %t = relay.tuple(%x, %x) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %y = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
  %i = relay.argwhere(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %y, %i : !relay.incomplete, !relay.incomplete
}

// Requirements of the body's ops are removed from the call; its other requirements apply to its results.
// CHECK-LABEL: func.func @demands(
// CHECK-NEXT:    %[[Y:.*]] = relay.require(%y) {demands = #relay.requirements<p == m "C0 argument extent">, relay.requires = #relay.requirements<p == m "C0 argument extent">} : (tensor<?xf32, #relay.dims<p>>) -> tensor<?xf32, #relay.dims<m>>
// CHECK-NEXT:    %[[A:.*]] = relay.add(%x, %[[Y]])
// CHECK-NEXT:    %[[S:.*]] = relay.require(%[[A]]) {demands = #relay.requirements<p == m "C0 argument extent">} : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
// CHECK-NEXT:    relay.add(%[[S]], %[[S]]) : (
// CHECK-NEXT:    relay.add(%x, %y) : ({{.*}}) -> tensor<?xf32, #relay.dims<broadcast(m, p)>>
func.func @demands(%x: tensor<?xf32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<p>>) -> (!relay.incomplete, !relay.incomplete) {
  %0 = relay.call @sum(%x, %y) : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete
  %1 = relay.call @sum(%0, %0) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %2 = relay.call @any_sum(%x, %y) : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete
  func.return %1, %2 : !relay.incomplete, !relay.incomplete
}
func.func private @sum(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %0 = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
func.func private @any_sum(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete {
  %0 = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// Requirements on the results would have to be at the fields of a tuple.
// CHECK-LABEL: func.func @tuple(
// CHECK:         relay.call @pair<n = m>
func.func @tuple(%x: tensor<?xf32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete {
  %0 = relay.call @pair(%x, %y) : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
func.func private @pair(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %0 = relay.tuple(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// CHECK-LABEL: func.func @through(
// CHECK-NEXT:    relay.reshape(%x) {newshape = [1, -1]} : ({{.*}}) -> tensor<1x?xf32, #relay.dims<3 * m>>
// CHECK-NEXT:    func.return
func.func @through(%x: tensor<?xf32, #relay.dims<3 * m>>) -> !relay.incomplete {
  %0 = relay.call @outer(%x) : (tensor<?xf32, #relay.dims<3 * m>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
func.func private @outer(%x: tensor<?xf32, #relay.dims<3 * k>>) -> !relay.incomplete {
  %0 = relay.call @inner(%x) : (tensor<?xf32, #relay.dims<3 * k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
// MARKED-LABEL: func.func private @outer(
// MARKED-NEXT:    relay.reshape(%x)
func.func private @inner(%x: tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete attributes {relay.inline} {
  %0 = relay.reshape(%x) {newshape = [1, -1]} : (tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// A recursive function keeps its call and its names.
// CHECK-LABEL: func.func @recursive(
// CHECK:         relay.call @recursive<n = 2 * n, r = q>
func.func @recursive(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<r>> {
  %0 = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<r>> attributes {relay.binds = #relay.bounds<r>} {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  } else {
    %t = relay.tuple(%x, %x) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
    %1 = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> tensor<?xf32, #relay.dims<2 * n>>
    %2 = relay.call @recursive(%c, %1) : (tensor<i1>, tensor<?xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<q>>
    relay.yield %2 : tensor<?xf32, #relay.dims<q>>
  }
  func.return %0 : tensor<?xf32, #relay.dims<r>>
}

// If the result's extent is an expression of an extent that the body defines, that one keeps its name after the call.
// CHECK-LABEL: func.func @expression(
// CHECK-NEXT:    %[[K:.*]] = relay.argwhere(%x) {relay.binds = #relay.bounds<k_1 <= n>}
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[K]], %[[K]])
// CHECK-NEXT:    %[[C:.*]] = relay.concatenate(%[[T]]) : {{.*}} -> tensor<?x1xi32, #relay.dims<2 * k_1>>
// CHECK-NEXT:    %[[N:.*]] = relay.negative(%[[C]])
// CHECK-NEXT:    func.return %[[N]] : tensor<?x1xi32, #relay.dims<2 * k_1>>
func.func @expression(%x: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete {
    %k = relay.argwhere(%a) : (tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete
    %t = relay.tuple(%k, %k) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    %y = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  %r = relay.invoke %f(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete
  %z = relay.negative(%r) : (!relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}
