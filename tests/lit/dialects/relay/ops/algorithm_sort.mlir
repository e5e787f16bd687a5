// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @defaults(
func.func @defaults(%x: tensor<4x8xf32>) {
  // CHECK: relay.sort(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = relay.sort(%x) {axis = -1, is_ascend = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: relay.argsort(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  %a = relay.argsort(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  // CHECK: relay.topk(%x) : (tensor<4x8xf32>) -> tuple<tensor<4x1xf32>, tensor<4x1xi32>>
  %t = relay.topk(%x) {k = 1, ret_type = "both", is_ascend = false} : (tensor<4x8xf32>) -> tuple<tensor<4x1xf32>, tensor<4x1xi32>>
  func.return
}

// CHECK-LABEL: @all_attributes(
func.func @all_attributes(%x: tensor<?x8xui8, #relay.dims<n>>) {
  // CHECK: relay.sort(%x) {axis = 0, is_ascend = false} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<?x8xui8, #relay.dims<n>>
  %s = relay.sort(%x) {axis = 0, is_ascend = false} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<?x8xui8, #relay.dims<n>>
  // CHECK: relay.argsort(%x) {axis = 0, is_ascend = false, dtype = i64} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<?x8xi64, #relay.dims<n>>
  %a = relay.argsort(%x) {axis = 0, is_ascend = false, dtype = i64} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<?x8xi64, #relay.dims<n>>
  // CHECK: relay.topk(%x) {k = 3, axis = 0, ret_type = "indices", is_ascend = true, dtype = i64} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<3x8xi64>
  %i = relay.topk(%x) {axis = 0, k = 3, ret_type = "indices", is_ascend = true, dtype = i64} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<3x8xi64>
  // CHECK: relay.topk(%x) {k = 0, ret_type = "values"} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<?x8xui8, #relay.dims<n>>
  %v = relay.topk(%x) {k = 0, ret_type = "values"} : (tensor<?x8xui8, #relay.dims<n>>) -> tensor<?x8xui8, #relay.dims<n>>
  func.return
}
