// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @default_layout(
func.func @default_layout(%x: tensor<2x5xf32>, %w: tensor<2x5x8xf32>) {
  // CHECK: %r = relay.nn.contrib_dense_pack(%x, %w) : (tensor<2x5xf32>, tensor<2x5x8xf32>) -> tensor<2x16xf32>
  %r = relay.nn.contrib_dense_pack(%x, %w) : (tensor<2x5xf32>, tensor<2x5x8xf32>) -> tensor<2x16xf32>
  func.return
}

// CHECK-LABEL: @all_attributes(
func.func @all_attributes(%x: tensor<3x2x5xf32>, %w: tensor<2x5x16xf32>) {
  // CHECK: {weight_layout = "NC16n", units = 32, out_dtype = f64} : {{.*}} -> tensor<3x2x32xf64>
  %r = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n", units = 32, out_dtype = f64} : (tensor<3x2x5xf32>, tensor<2x5x16xf32>) -> tensor<3x2x32xf64>
  func.return
}

// The last block is filled up.
// CHECK-LABEL: @partial(
func.func @partial(%x: tensor<2x5xf32>, %w: tensor<2x5x8xf32>) {
  // CHECK: relay.nn.contrib_dense_pack(%x, %w) {units = 10} : (tensor<2x5xf32>, tensor<2x5x8xf32>) -> tensor<2x10xf32>
  %r = relay.nn.contrib_dense_pack(%x, %w) {units = 10} : (tensor<2x5xf32>, tensor<2x5x8xf32>) -> tensor<2x10xf32>
  func.return
}
