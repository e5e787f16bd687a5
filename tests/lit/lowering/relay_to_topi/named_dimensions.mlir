// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// Extents that broadcast only at some sizes: each operand is read at its index times 0 or 1.
// CHECK-LABEL: @unproven
func.func private @unproven(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>)
    -> tensor<?xf32, #relay.dims<broadcast(m, n)>> attributes {relay.primitive} {
  // CHECK-NEXT: topi.compute "add" [%i0 : broadcast(m, n)]
  // CHECK-NEXT: topi.read %x[%i0 * max(0, min(1, n - 1))]
  // CHECK-NEXT: topi.read %y[%i0 * max(0, min(1, m - 1))]
  %r = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<broadcast(m, n)>>
  func.return %r : tensor<?xf32, #relay.dims<broadcast(m, n)>>
}

// A proven extent needs no product.
// CHECK-LABEL: @proven
func.func private @proven(%x: tensor<?x1xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>)
    -> tensor<?x?xf32, #relay.dims<n, m>> attributes {relay.primitive} {
  // CHECK: topi.read %x[%i0, 0]
  // CHECK-NEXT: topi.read %y[%i1]
  %r = relay.add(%x, %y) : (tensor<?x1xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?x?xf32, #relay.dims<n, m>>
  func.return %r : tensor<?x?xf32, #relay.dims<n, m>>
}

// Kept axes are read at their indices, whatever their extents.
// CHECK-LABEL: @heads
func.func private @heads(%x: tensor<?x?x8xf32, #relay.dims<b, s>>) -> tensor<?x?x2x4xf32, #relay.dims<b, s>> attributes {relay.primitive} {
  // CHECK: topi.read %x[%i0, %i1, %i2 * 4 + %i3]
  %r = relay.reshape(%x) {newshape = [0, 0, 2, 4]} : (tensor<?x?x8xf32, #relay.dims<b, s>>) -> tensor<?x?x2x4xf32, #relay.dims<b, s>>
  func.return %r : tensor<?x?x2x4xf32, #relay.dims<b, s>>
}

// Each pair of axes is joined on its own.
// CHECK-LABEL: @pairs
func.func private @pairs(%x: tensor<?x2x?x2xf32, #relay.dims<h, w>>) -> tensor<?x?xf32, #relay.dims<2 * h, 2 * w>> attributes {relay.primitive} {
  // CHECK: topi.read %x[%i0 floordiv 2, %i0 mod 2, %i1 floordiv 2, %i1 mod 2]
  %r = relay.reshape(%x) {newshape = [-3, -3]} : (tensor<?x2x?x2xf32, #relay.dims<h, w>>) -> tensor<?x?xf32, #relay.dims<2 * h, 2 * w>>
  func.return %r : tensor<?x?xf32, #relay.dims<2 * h, 2 * w>>
}

// CHECK-LABEL: @flat
func.func private @flat(%x: tensor<?x3x?xf32, #relay.dims<n, m>>) -> tensor<?xf32, #relay.dims<3 * m * n>> attributes {relay.primitive} {
  // CHECK: topi.read %x[%i0 floordiv (m * 3), %i0 floordiv m mod 3, %i0 mod m]
  %r = relay.reshape(%x) {newshape = [-1]} : (tensor<?x3x?xf32, #relay.dims<n, m>>) -> tensor<?xf32, #relay.dims<3 * m * n>>
  func.return %r : tensor<?xf32, #relay.dims<3 * m * n>>
}

// CHECK-LABEL: @mean
func.func private @mean(%x: tensor<?x8xf32, #relay.dims<n>>) -> tensor<8xf32> attributes {relay.primitive} {
  // CHECK: topi.compute "mean_sum" [%i0 : 8] reduce [%k0 : n]
  // CHECK: topi.compute "mean" [%i0 : 8]
  // CHECK: topi.index [n]
  %r = relay.mean(%x) {axis = [0]} : (tensor<?x8xf32, #relay.dims<n>>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: @concatenate
func.func private @concatenate(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>)
    -> tensor<?xf32, #relay.dims<m + n>> attributes {relay.primitive} {
  // CHECK: topi.in_bounds [%i0] of [n]
  // CHECK: topi.read %y[%i0 - n]
  %t = relay.tuple(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>>
  %r = relay.concatenate(%t) {axis = 0} : (tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>>) -> tensor<?xf32, #relay.dims<m + n>>
  func.return %r : tensor<?xf32, #relay.dims<m + n>>
}

// The number of steps suffices to bisect the longest possible row; the length of the interval begins at n.
// CHECK-LABEL: @search
func.func private @search(%r: tensor<?xf32, #relay.dims<n>>, %v: tensor<4xf32>) -> tensor<4xi64> attributes {relay.primitive} {
  // CHECK: topi.compute "searchsorted" [%i0 : 4] reduce [%k : 16 * min(1, n floordiv 4294967296) + 16 * min(1, n floordiv 65536) + 16 * min(1, n)] init [%acc = 0 : i64, %acc_1 = 0 : i64]
  // CHECK-NEXT: %[[N:.*]] = topi.index [n]
  // CHECK: arith.subi
  %y = relay.searchsorted(%r, %v) {dtype = i64} : (tensor<?xf32, #relay.dims<n>>, tensor<4xf32>) -> tensor<4xi64>
  func.return %y : tensor<4xi64>
}

// CHECK-LABEL: @argwhere
func.func private @argwhere(%x: tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x2xi32, #relay.dims<k>> attributes {relay.primitive} {
  // CHECK: topi.positions(%{{.*}}) : (tensor<?x?xi1, #relay.dims<n, m>>) -> (tensor<?xi64, #relay.dims<m * n>>, tensor<i64>)
  // CHECK: topi.compute "argwhere" [%i : m * n, %j : 2]
  // CHECK: topi.index [%{{.*}} mod m]
  // CHECK: topi.index [%{{.*}} floordiv m mod n]
  %y = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= m * n>} : (tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x2xi32, #relay.dims<k>>
  func.return %y : tensor<?x2xi32, #relay.dims<k>>
}
