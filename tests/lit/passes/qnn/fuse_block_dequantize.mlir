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
// SAYS-DAG: relay.take: takes packed rows
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

// Cast bytes with a scale for each unit: two products read the same words.
// CHECK-LABEL: func.func @bytes
// CHECK:         %[[W:.*]] = relay.constant {{.*}} : tensor<300x64xi32>
// CHECK:         %y = relay.qnn.block_dense(%x, %[[W]], %{{.*}}, %{{.*}}) {bits = 8, block_size = 256}
// CHECK-NEXT:    %z = relay.qnn.block_dense(%x, %[[W]], %{{.*}}, %{{.*}}) {bits = 8, block_size = 256}
func.func @bytes(%x: tensor<2x256xf32>) -> (tensor<2x300xf32>, tensor<2x300xf32>) {
  %q = relay.constant dense<3> : tensor<256x300xi8>
  %s = relay.constant dense<0.5> : tensor<1x300xf32>
  %f = relay.cast(%q) {dtype = f32} : (tensor<256x300xi8>) -> tensor<256x300xf32>
  %a = relay.multiply(%s, %f) : (tensor<1x300xf32>, tensor<256x300xf32>) -> tensor<256x300xf32>
  %y = relay.nn.matmul(%x, %a) : (tensor<2x256xf32>, tensor<256x300xf32>) -> tensor<2x300xf32>
  %b = relay.transpose(%a) {axes = array<i64: 1, 0>} : (tensor<256x300xf32>) -> tensor<300x256xf32>
  %z = relay.nn.dense(%x, %b) : (tensor<2x256xf32>, tensor<300x256xf32>) -> tensor<2x300xf32>
  func.return %y, %z : tensor<2x300xf32>, tensor<2x300xf32>
}

// Unsigned bytes less 128 are signed, and so is their zero point.
// CHECK-LABEL: func.func @unsigned
// CHECK:         relay.constant dense<-3> : tensor<i32>
// CHECK:         relay.qnn.block_dense(%x, {{.*}}) {bits = 8, block_size = 256}
func.func @unsigned(%x: tensor<2x256xf32>) -> tensor<2x300xf32> {
  %q = relay.constant dense<3> : tensor<300x256xui8>
  %s = relay.constant dense<0.5> : tensor<300xf32>
  %p = relay.constant dense<125> : tensor<300xi32>
  %a = relay.qnn.dequantize(%q, %s, %p) {axis = 0} : (tensor<300x256xui8>, tensor<300xf32>, tensor<300xi32>) -> tensor<300x256xf32>
  %y = relay.nn.dense(%x, %a) : (tensor<2x256xf32>, tensor<300x256xf32>) -> tensor<2x300xf32>
  func.return %y : tensor<2x300xf32>
}

// A small weight is left alone. Scales along the sums, and units that are no whole words, are refused.
// CHECK-LABEL: func.func @other_bytes
// CHECK-NOT:     relay.qnn.block_dense
// SAYS-DAG: relay.nn.dense: its scale or zero point is not constant, or varies along the sums
// SAYS-DAG: relay.nn.dense: the 258 bytes of a unit are not whole words
func.func @other_bytes(%x: tensor<2x256xf32>, %v: tensor<2x258xf32>) -> (tensor<2x255xf32>, tensor<2x300xf32>, tensor<2x300xf32>) {
  %s = relay.constant dense<0.5> : tensor<1xf32>
  %k = relay.constant dense<3> : tensor<255x256xi8>
  %l = relay.cast(%k) {dtype = f32} : (tensor<255x256xi8>) -> tensor<255x256xf32>
  %m = relay.multiply(%l, %s) : (tensor<255x256xf32>, tensor<1xf32>) -> tensor<255x256xf32>
  %r = relay.nn.dense(%x, %m) : (tensor<2x256xf32>, tensor<255x256xf32>) -> tensor<2x255xf32>
  %t = relay.constant dense<0.5> : tensor<256xf32>
  %q = relay.constant dense<3> : tensor<300x256xi8>
  %f = relay.cast(%q) {dtype = f32} : (tensor<300x256xi8>) -> tensor<300x256xf32>
  %a = relay.multiply(%f, %t) : (tensor<300x256xf32>, tensor<256xf32>) -> tensor<300x256xf32>
  %y = relay.nn.dense(%x, %a) : (tensor<2x256xf32>, tensor<300x256xf32>) -> tensor<2x300xf32>
  %p = relay.constant dense<3> : tensor<300x258xi8>
  %g = relay.cast(%p) {dtype = f32} : (tensor<300x258xi8>) -> tensor<300x258xf32>
  %b = relay.multiply(%g, %s) : (tensor<300x258xf32>, tensor<1xf32>) -> tensor<300x258xf32>
  %z = relay.nn.dense(%v, %b) : (tensor<2x258xf32>, tensor<300x258xf32>) -> tensor<2x300xf32>
  func.return %r, %y, %z : tensor<2x255xf32>, tensor<2x300xf32>, tensor<2x300xf32>
}
