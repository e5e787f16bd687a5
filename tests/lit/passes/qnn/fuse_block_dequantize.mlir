// RUN: xrelay-opt %s -p qnn-fuse-block-dequantize | filecheck %s
// RUN: xrelay-opt %s -p qnn-fuse-block-dequantize --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %y = relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16}
// CHECK-NEXT:    func.return %y
// SAYS: relay.nn.dense: reads the packed weight
func.func @dense(%x: tensor<2x32xf32>, %w: tensor<3x4xi32>, %s: tensor<3x2xf32>, %z: tensor<i32>) -> tensor<2x3xf32> {
  %a = relay.qnn.block_dequantize(%w, %s, %z) {block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x32xf32>
  %y = relay.nn.dense(%x, %a) : (tensor<2x32xf32>, tensor<3x32xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// The weight of a matrix product is transposed by another op, or by the product.
// CHECK-LABEL: func.func @matmul
// CHECK-NEXT:    relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16}
// CHECK-NEXT:    relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16}
// CHECK-NEXT:    func.return
func.func @matmul(%x: tensor<2x32xf32>, %w: tensor<3x4xi32>, %s: tensor<3x2xf32>, %z: tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = relay.qnn.block_dequantize(%w, %s, %z) {block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x32xf32>
  %b = relay.transpose(%a) {axes = array<i64: 1, 0>} : (tensor<3x32xf32>) -> tensor<32x3xf32>
  %y = relay.nn.matmul(%x, %b) : (tensor<2x32xf32>, tensor<32x3xf32>) -> tensor<2x3xf32>
  %r = relay.nn.matmul(%x, %a) {transpose_b = true} : (tensor<2x32xf32>, tensor<3x32xf32>) -> tensor<2x3xf32>
  func.return %y, %r : tensor<2x3xf32>, tensor<2x3xf32>
}

// A zero point for each block is taken with its row.
// CHECK-LABEL: func.func @take
// CHECK-NEXT:    %[[W:.*]] = relay.take(%w, %i) {axis = 0} : (tensor<3x4xi32>, tensor<5xi64>) -> tensor<5x4xi32>
// CHECK-NEXT:    %[[S:.*]] = relay.take(%s, %i) {axis = 0}
// CHECK-NEXT:    %[[Z:.*]] = relay.take(%z, %i) {axis = 0}
// CHECK-NEXT:    relay.qnn.block_dequantize(%[[W]], %[[S]], %[[Z]]) {block_size = 16}
// SAYS: relay.take: takes packed rows
func.func @take(%i: tensor<5xi64>, %w: tensor<3x4xi32>, %s: tensor<3x2xf32>, %z: tensor<3x1xi32>) -> tensor<5x32xf32> {
  %a = relay.qnn.block_dequantize(%w, %s, %z) {block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<3x1xi32>) -> tensor<3x32xf32>
  %y = relay.take(%a, %i) {axis = 0} : (tensor<3x32xf32>, tensor<5xi64>) -> tensor<5x32xf32>
  func.return %y : tensor<5x32xf32>
}

// Units along the packed axis, transposed data, taken columns and elements of the flattened weight: left alone.
// CHECK-LABEL: func.func @others
// CHECK:         relay.nn.matmul(%x, %{{.*}})
// CHECK:         relay.nn.matmul(%v, %{{.*}}) {transpose_a = true, transpose_b = true}
// CHECK:         relay.take(%{{.*}}, %i) {axis = 1}
// CHECK:         relay.take(%{{.*}}, %i) :
func.func @others(%x: tensor<2x3xf32>, %v: tensor<32x2xf32>, %i: tensor<5xi64>, %w: tensor<3x4xi32>, %s: tensor<3x2xf32>, %z: tensor<i32>)
    -> (tensor<2x32xf32>, tensor<2x3xf32>, tensor<3x5xf32>, tensor<5xf32>) {
  %a = relay.qnn.block_dequantize(%w, %s, %z) {block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x32xf32>
  %y = relay.nn.matmul(%x, %a) : (tensor<2x3xf32>, tensor<3x32xf32>) -> tensor<2x32xf32>
  %r = relay.nn.matmul(%v, %a) {transpose_a = true, transpose_b = true} : (tensor<32x2xf32>, tensor<3x32xf32>) -> tensor<2x3xf32>
  %t = relay.take(%a, %i) {axis = 1} : (tensor<3x32xf32>, tensor<5xi64>) -> tensor<3x5xf32>
  %f = relay.take(%a, %i) : (tensor<3x32xf32>, tensor<5xi64>) -> tensor<5xf32>
  func.return %y, %r, %t, %f : tensor<2x32xf32>, tensor<2x3xf32>, tensor<3x5xf32>, tensor<5xf32>
}
