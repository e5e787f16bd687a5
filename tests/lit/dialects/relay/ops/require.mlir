// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s --check-prefix=TYPED

// CHECK-LABEL: @require(
// TYPED-LABEL: @require(
func.func @require(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) {
  // CHECK: relay.require(%x) {demands = #relay.requirements<n >= m "C2 rows">} : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  // TYPED: relay.require(%x) {demands = #relay.requirements<n >= m "C2 rows">, relay.requires = #relay.requirements<n >= m "C2 rows">} : ({{.*}}) -> tensor<?xf32, #relay.dims<n>>
  %0 = relay.require(%x) {demands = #relay.requirements<n >= m "C2 rows">} : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  // CHECK: relay.require(%y) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<n>>
  // TYPED: relay.require(%y) {relay.requires = #relay.requirements<m == n "C0 result extent">} : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<n>>
  %1 = relay.require(%y) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<n>>
  func.return
}
