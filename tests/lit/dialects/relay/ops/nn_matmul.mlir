// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @matmul(
func.func @matmul(%x: tensor<2x5x8xf32>, %w: tensor<8x3xf32>) {
  // CHECK: %r = relay.nn.matmul(%x, %w) : (tensor<2x5x8xf32>, tensor<8x3xf32>) -> tensor<2x5x3xf32>
  %r = relay.nn.matmul(%x, %w) : (tensor<2x5x8xf32>, tensor<8x3xf32>) -> tensor<2x5x3xf32>
  func.return
}

// CHECK-LABEL: @matmul_transposed(
func.func @matmul_transposed(%x: tensor<8x5xi8>, %w: tensor<3x8xi8>) {
  // CHECK: %r = relay.nn.matmul(%x, %w) {units = 3, out_dtype = i32, transpose_a = true, transpose_b = true}
  // CHECK-SAME: : (tensor<8x5xi8>, tensor<3x8xi8>) -> tensor<5x3xi32>
  %r = relay.nn.matmul(%x, %w) {units = 3, transpose_a = true, transpose_b = true, out_dtype = i32}
      : (tensor<8x5xi8>, tensor<3x8xi8>) -> tensor<5x3xi32>
  func.return
}

// CHECK-LABEL: @batch_matmul(
func.func @batch_matmul(%q: tensor<12x5x8xf32>, %k: tensor<1x7x8xf32>) {
  // CHECK: %r = relay.nn.batch_matmul(%q, %k) : (tensor<12x5x8xf32>, tensor<1x7x8xf32>) -> tensor<12x5x7xf32>
  %r = relay.nn.batch_matmul(%q, %k) : (tensor<12x5x8xf32>, tensor<1x7x8xf32>) -> tensor<12x5x7xf32>
  func.return
}

// CHECK-LABEL: @batch_matmul_stacks(
func.func @batch_matmul_stacks(%p: tensor<2x1x8x5xf32>, %v: tensor<3x8x4xf32>) {
  // CHECK: %r = relay.nn.batch_matmul(%p, %v) {transpose_a = true, transpose_b = false}
  // CHECK-SAME: : (tensor<2x1x8x5xf32>, tensor<3x8x4xf32>) -> tensor<2x3x5x4xf32>
  %r = relay.nn.batch_matmul(%p, %v) {transpose_a = true, transpose_b = false}
      : (tensor<2x1x8x5xf32>, tensor<3x8x4xf32>) -> tensor<2x3x5x4xf32>
  func.return
}
