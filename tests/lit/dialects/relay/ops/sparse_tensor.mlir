// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @places(
func.func @places(%i: tensor<3x2xi64>, %v: tensor<3xf32>, %d: tensor<f32>) {
  // CHECK: relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]} : (tensor<3x2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<4x8xf32>
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]} : (tensor<3x2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return
}

// One position, and one value for all positions; the default has its own type.
// CHECK-LABEL: @scalars(
func.func @scalars(%i: tensor<ui8>, %l: tensor<3xi32>, %v: tensor<bf16>, %d: tensor<i32>) {
  // CHECK: relay.sparse_to_dense(%i, %v, %d) {output_shape = [5]} : (tensor<ui8>, tensor<bf16>, tensor<i32>) -> tensor<5xbf16>
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [5]} : (tensor<ui8>, tensor<bf16>, tensor<i32>) -> tensor<5xbf16>
  // CHECK: relay.sparse_to_dense(%l, %v, %d) {output_shape = [5]} : (tensor<3xi32>, tensor<bf16>, tensor<i32>) -> tensor<5xbf16>
  %z = relay.sparse_to_dense(%l, %v, %d) {output_shape = [5]} : (tensor<3xi32>, tensor<bf16>, tensor<i32>) -> tensor<5xbf16>
  func.return
}

// CHECK-LABEL: @open(
func.func @open(%i: tensor<?x2xi64, #relay.dims<n>>, %v: tensor<?xf32, #relay.dims<n>>, %d: tensor<f32>) {
  // CHECK: relay.sparse_to_dense({{.*}} -> tensor<4x8xf32>
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]} : (tensor<?x2xi64, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>, tensor<f32>) -> tensor<4x8xf32>
  func.return
}

// The ranks may be dynamic; a row of positions has an index for each element of the new shape.
// CHECK-LABEL: @reshape(
func.func @reshape(%i: tensor<?x?xi32, #relay.dims<n, m>>, %p: tensor<?xi64, #relay.dims<m>>, %s: tensor<?xi64, #relay.dims<k>>) {
  // CHECK: relay.sparse_reshape(%i, %p, %s) : ({{.*}}) -> tuple<tensor<?x?xi32, #relay.dims<n, k>>, tensor<?xi64, #relay.dims<k>>>
  %t = relay.sparse_reshape(%i, %p, %s) : (tensor<?x?xi32, #relay.dims<n, m>>, tensor<?xi64, #relay.dims<m>>, tensor<?xi64, #relay.dims<k>>) -> tuple<tensor<?x?xi32, #relay.dims<n, k>>, tensor<?xi64, #relay.dims<k>>>
  func.return
}

// CHECK-LABEL: @dyn(
func.func @dyn(%i: tensor<3x2xi64>, %s: tensor<2xi64>, %v: tensor<3xf32>, %d: tensor<f32>) {
  // CHECK: relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<3x2xi64>, tensor<2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<?x?xf32>
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<3x2xi64>, tensor<2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<?x?xf32>
  func.return
}
