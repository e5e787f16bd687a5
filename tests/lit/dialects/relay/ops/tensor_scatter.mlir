// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @scatter_elements(
func.func @scatter_elements(%x: tensor<4x8xf32>, %i: tensor<3x8xi32>, %u: tensor<3x8xf32>) {
  // CHECK: %a = relay.scatter_elements(%x, %i, %u) : (tensor<4x8xf32>, tensor<3x8xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %a = relay.scatter_elements(%x, %i, %u) {axis = 0, reduction = "update"} : (tensor<4x8xf32>, tensor<3x8xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  // CHECK: %b = relay.scatter_elements({{.*}}) {axis = -2, reduction = "max"} : ({{.*}}) -> tensor<4x8xf32>
  %b = relay.scatter_elements(%x, %i, %u) {axis = -2, reduction = "max"} : (tensor<4x8xf32>, tensor<3x8xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @scatter_nd(
func.func @scatter_nd(%x: tensor<4x8xi1>, %i: tensor<1x5x2xui8>, %u: tensor<5x2x8xi1>) {
  // CHECK: %a = relay.scatter_nd(%x, %i, %u) {mode = "min"} : (tensor<4x8xi1>, tensor<1x5x2xui8>, tensor<5x2x8xi1>) -> tensor<4x8xi1>
  %a = relay.scatter_nd(%x, %i, %u) {mode = "min"} : (tensor<4x8xi1>, tensor<1x5x2xui8>, tensor<5x2x8xi1>) -> tensor<4x8xi1>
  func.return
}

// The data's type is inferred from the result.
// CHECK-LABEL: @open(
func.func @open(%x: tensor<?x8xf32, #relay.dims<n>>, %i: tensor<1x?xi64, #relay.dims<m>>, %u: tensor<?x8xf32, #relay.dims<m>>) {
  // CHECK: relay.scatter_nd({{.*}} -> tensor<?x8xf32, #relay.dims<n>>
  %a = relay.scatter_nd(%x, %i, %u) : (tensor<?x8xf32, #relay.dims<n>>, tensor<1x?xi64, #relay.dims<m>>, tensor<?x8xf32, #relay.dims<m>>) -> tensor<?x8xf32, #relay.dims<n>>
  func.return
}
