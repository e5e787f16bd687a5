// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @dense(
func.func @dense(%x: tensor<2x5xf32>, %w: tensor<4x5xf32>) {
  // CHECK: %r = relay.nn.dense(%x, %w) {units = 4} : (tensor<2x5xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  %r = relay.nn.dense(%x, %w) {units = 4} : (tensor<2x5xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: @dense_rank_3(
func.func @dense_rank_3(%x: tensor<2x3x5xf32>, %w: tensor<4x5xf32>) {
  // CHECK: %r = relay.nn.dense(%x, %w) : (tensor<2x3x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4xf32>
  %r = relay.nn.dense(%x, %w) : (tensor<2x3x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4xf32>
  func.return
}

// CHECK-LABEL: @dense_integers(
func.func @dense_integers(%x: tensor<2x5xi8>, %w: tensor<4x5xi8>) {
  // CHECK: %r = relay.nn.dense(%x, %w) {out_dtype = i32} : (tensor<2x5xi8>, tensor<4x5xi8>) -> tensor<2x4xi32>
  %r = relay.nn.dense(%x, %w) {out_dtype = i32} : (tensor<2x5xi8>, tensor<4x5xi8>) -> tensor<2x4xi32>
  func.return
}

// CHECK-LABEL: @bias_add(
func.func @bias_add(%x: tensor<1x8x4x4xf32>, %b: tensor<8xf32>) {
  // CHECK: %r = relay.nn.bias_add(%x, %b) : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.bias_add(%x, %b) : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// CHECK-LABEL: @bias_add_last(
func.func @bias_add_last(%x: tensor<2x4xf32>, %b: tensor<4xf32>) {
  // CHECK: %r = relay.nn.bias_add(%x, %b) {axis = -1} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %r = relay.nn.bias_add(%x, %b) {axis = -1} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}
