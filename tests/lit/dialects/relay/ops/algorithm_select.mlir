// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @select(
func.func @select(%x: tensor<4x8xf32>, %l: tensor<?xi64, #relay.dims<n>>, %b: tensor<1xi64>) {
  // CHECK: relay.argwhere(%x) : (tensor<4x8xf32>) -> tensor<?x2xi32>
  %a = relay.argwhere(%x) : (tensor<4x8xf32>) -> tensor<?x2xi32>
  // CHECK: relay.unique(%l) {is_sorted = false, return_counts = true} : (tensor<?xi64, #relay.dims<n>>) -> tuple<
  %u = relay.unique(%l) {is_sorted = false, return_counts = true} : (tensor<?xi64, #relay.dims<n>>)
    -> tuple<tensor<?xi64, #relay.dims<n>>, tensor<?xi32, #relay.dims<n>>, tensor<?xi32, #relay.dims<n>>, tensor<1xi32>, tensor<?xi32, #relay.dims<n>>>
  // CHECK: relay.dyn.strided_slice(%x, %b, %b, %b) : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  %s = relay.dyn.strided_slice(%x, %b, %b, %b) : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  func.return
}
