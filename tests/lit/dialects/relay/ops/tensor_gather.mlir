// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @take(
func.func @take(%x: tensor<4x8x3xf32>, %i: tensor<2x5xi64>, %j: tensor<4x5xi8>) {
  // CHECK: %a = relay.take(%x, %i) {axis = 1} : (tensor<4x8x3xf32>, tensor<2x5xi64>) -> tensor<4x2x5x3xf32>
  %a = relay.take(%x, %i) {axis = 1, mode = "clip"} : (tensor<4x8x3xf32>, tensor<2x5xi64>) -> tensor<4x2x5x3xf32>
  // CHECK: %b = relay.take(%x, %i) {mode = "wrap"} : (tensor<4x8x3xf32>, tensor<2x5xi64>) -> tensor<2x5xf32>
  %b = relay.take(%x, %i) {mode = "wrap"} : (tensor<4x8x3xf32>, tensor<2x5xi64>) -> tensor<2x5xf32>
  // CHECK: %c = relay.take(%x, %j) {batch_dims = 1, axis = -1, mode = "raise"} : (tensor<4x8x3xf32>, tensor<4x5xi8>) -> tensor<4x8x5xf32>
  %c = relay.take(%x, %j) {axis = -1, batch_dims = 1, mode = "raise"} : (tensor<4x8x3xf32>, tensor<4x5xi8>) -> tensor<4x8x5xf32>
  func.return
}

// The extents of named dimensions are propagated.
// CHECK-LABEL: @open(
func.func @open(%x: tensor<?x8xf32, #relay.dims<n>>, %i: tensor<?xi64, #relay.dims<m>>) {
  // CHECK: %a = relay.take({{.*}} -> tensor<?x8xf32, #relay.dims<m>>
  %a = relay.take(%x, %i) {axis = 0, mode = "raise"} : (tensor<?x8xf32, #relay.dims<n>>, tensor<?xi64, #relay.dims<m>>) -> tensor<?x8xf32, #relay.dims<m>>
  func.return
}

// CHECK-LABEL: @gather(
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<3x8xi32>, %j: tensor<2x5xui8>, %k: tensor<1x4xi64>) {
  // CHECK: %a = relay.gather(%x, %i) {axis = 0} : (tensor<4x8xf32>, tensor<3x8xi32>) -> tensor<3x8xf32>
  %a = relay.gather(%x, %i) {axis = 0} : (tensor<4x8xf32>, tensor<3x8xi32>) -> tensor<3x8xf32>
  // CHECK: %b = relay.gather_nd(%x, %j) : (tensor<4x8xf32>, tensor<2x5xui8>) -> tensor<5xf32>
  %b = relay.gather_nd(%x, %j) : (tensor<4x8xf32>, tensor<2x5xui8>) -> tensor<5xf32>
  // CHECK: %c = relay.gather_nd(%x, %k) {batch_dims = 1, index_rank = 1} : (tensor<4x8xf32>, tensor<1x4xi64>) -> tensor<4xf32>
  %c = relay.gather_nd(%x, %k) {batch_dims = 1, index_rank = 1} : (tensor<4x8xf32>, tensor<1x4xi64>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @one_hot(
func.func @one_hot(%i: tensor<3x2xi64>, %v: tensor<f16>) {
  // CHECK: %a = relay.one_hot(%i, %v, %v) {depth = 5, axis = 0, dtype = f16} : (tensor<3x2xi64>, tensor<f16>, tensor<f16>) -> tensor<5x3x2xf16>
  %a = relay.one_hot(%i, %v, %v) {depth = 5, axis = 0, dtype = f16} : (tensor<3x2xi64>, tensor<f16>, tensor<f16>) -> tensor<5x3x2xf16>
  func.return
}
