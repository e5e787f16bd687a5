// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @dims(
func.func @dims(%x: tensor<?x3x?xf32, #relay.dims<n, 2 * n + 1>>) {
  // CHECK: %r = relay.exp(%x) : (tensor<?x3x?xf32, #relay.dims<n, 2 * n + 1>>) -> tensor<?x3x?xf32, #relay.dims<n, 2 * n + 1>>
  %r = relay.exp(%x) : (tensor<?x3x?xf32, #relay.dims<n, 2 * n + 1>>) -> tensor<?x3x?xf32, #relay.dims<n, 2 * n + 1>>
  func.return
}

// CHECK-LABEL: @quotients(
func.func @quotients(%x: tensor<?x?x?xf32, #relay.dims<(n + 1) floordiv 2, (n mod 4) * m, max(m, n)>>) {
  // CHECK: %r = relay.exp(%x) : (tensor<?x?x?xf32, #relay.dims<(n + 1) floordiv 2, m * (n mod 4), max(m, n)>>) -> !relay.incomplete
  %r = relay.exp(%x) : (tensor<?x?x?xf32, #relay.dims<(n + 1) floordiv 2, m * (n mod 4), max(m, n)>>) -> !relay.incomplete
  func.return
}

// CHECK-LABEL: @any(
func.func @any(%x: tensor<?x?xf32, #relay.dims<?, n>>) {
  // CHECK: %r = relay.exp(%x) : (tensor<?x?xf32, #relay.dims<?, n>>) -> tensor<?x?xf32, #relay.dims<?, n>>
  %r = relay.exp(%x) : (tensor<?x?xf32, #relay.dims<?, n>>) -> tensor<?x?xf32, #relay.dims<?, n>>
  func.return
}

// CHECK-LABEL: @incomplete(
func.func @incomplete(%x: !relay.incomplete) {
  // CHECK: %r = relay.exp(%x) : (!relay.incomplete) -> !relay.incomplete
  %r = relay.exp(%x) : (!relay.incomplete) -> !relay.incomplete
  func.return
}

// CHECK-LABEL: @selections(
func.func @selections(%x: tensor<?x?x?xf32, #relay.dims<broadcast(m, n), min(n, 4) + 1, 2 * broadcast(n, max(k, m))>>) {
  // CHECK: %r = relay.exp(%x) : (tensor<?x?x?xf32, #relay.dims<broadcast(m, n), min(4, n) + 1, 2 * broadcast(max(k, m), n)>>) -> !relay.incomplete
  %r = relay.exp(%x) : (tensor<?x?x?xf32, #relay.dims<broadcast(n, m), min(n, 4) + 1, 2 * broadcast(n, max(k, m))>>) -> !relay.incomplete
  func.return
}

// CHECK-LABEL: @quotients_by_names(
func.func @quotients_by_names(%x: tensor<?x?xf32, #relay.dims<(m * n) floordiv n, n mod m>>) {
  // CHECK: %r = relay.exp(%x) : (tensor<?x?xf32, #relay.dims<(m * n) floordiv n, n mod m>>) -> !relay.incomplete
  %r = relay.exp(%x) : (tensor<?x?xf32, #relay.dims<(m * n) floordiv n, n mod m>>) -> !relay.incomplete
  func.return
}
