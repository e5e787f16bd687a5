// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @slices(
func.func @slices(%x: tensor<4x8xf32>, %c: tensor<3xi1>, %y: tensor<?x8xf32, #relay.dims<n>>) {
  // CHECK: relay.compress(%x, %c) : (tensor<4x8xf32>, tensor<3xi1>) -> tensor<?x8xf32>
  %a = relay.compress(%x, %c) : (tensor<4x8xf32>, tensor<3xi1>) -> tensor<?x8xf32>
  // CHECK: relay.compress(%x, %c) {axis = -1} : (tensor<4x8xf32>, tensor<3xi1>) -> tensor<4x?xf32>
  %b = relay.compress(%x, %c) {axis = -1} : (tensor<4x8xf32>, tensor<3xi1>) -> tensor<4x?xf32>
  // CHECK: relay.rank_rows(%y) : (tensor<?x8xf32, #relay.dims<n>>) -> tensor<?xi32, #relay.dims<n>>
  %r = relay.rank_rows(%y) : (tensor<?x8xf32, #relay.dims<n>>) -> tensor<?xi32, #relay.dims<n>>
  func.return
}
