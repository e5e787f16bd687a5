// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @requirements(
func.func @requirements(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) {
  // CHECK: {relay.requires = #relay.requirements<broadcastable(n, m) "C1 extents of axis 0", n >= 1 "C2", 16 * ((n + 15) floordiv 16) == n, (k + 1) mod 4 == 0 "C3">}
  %r = relay.add(%x, %y) {relay.requires = #relay.requirements<broadcastable(n, m) "C1 extents of axis 0", 1 <= n "C2", 16 * ((n + 15) floordiv 16) == n, (k + 5) mod 4 == 0 "C3">} : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<n>>
  func.return
}

// CHECK-LABEL: @bounds(
func.func @bounds(%x: tensor<?xf32, #relay.dims<n>>) {
  // CHECK: {relay.binds = #relay.bounds<k <= 2 * n, j>}
  %r = relay.exp(%x) {relay.binds = #relay.bounds<k <= 2 * n, j>} : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return
}

// CHECK-LABEL: @labels(
func.func @labels() attributes {
  // CHECK: a = #relay.requirements<n == m "C2 \22in\22\\channels">
  a = #relay.requirements<n == m "C2 \22in\22\\channels">,
  // CHECK-SAME: b = #relay.requirements<>
  b = #relay.requirements<>,
  // CHECK-SAME: c = #relay.requirements<n mod m == 0, 3 == 4, -n >= -m - 1>
  c = #relay.requirements<n mod m == 0, 3 == 4, -n >= -m - 1>
} {
  func.return
}
