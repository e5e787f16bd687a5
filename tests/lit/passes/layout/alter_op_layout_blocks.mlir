// RUN: xrelay-opt %s -p relay-alter-op-layout | filecheck %s
// RUN: xrelay-opt %s -p relay-alter-op-layout --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// Words, scales and zero points are packed alike, with zeros after the last unit.
// CHECK-LABEL: func.func @packed
// CHECK-DAG:     %[[W:.*]] = relay.layout_transform(%w) {src_layout = "NC", dst_layout = "NC16n"} : (tensor<40x4xi32>) -> tensor<3x4x16xi32>
// CHECK-DAG:     %[[S:.*]] = relay.layout_transform(%s) {src_layout = "NC", dst_layout = "NC16n"} : (tensor<40x2xf16>) -> tensor<3x2x16xf16>
// CHECK-DAG:     %[[Z:.*]] = relay.layout_transform(%z) {src_layout = "NC", dst_layout = "NC16n"} : (tensor<40x1xi32>) -> tensor<3x1x16xi32>
// CHECK:         relay.qnn.block_dense(%x, %[[W]], %[[S]], %[[Z]]) {units = 40, weight_layout = "NC16n", block_size = 16}
func.func @packed(%x: tensor<2x32xf32>, %w: tensor<40x4xi32>, %s: tensor<40x2xf16>, %z: tensor<40x1xi32>) -> tensor<2x40xf32> {
  %y = relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16}
      : (tensor<2x32xf32>, tensor<40x4xi32>, tensor<40x2xf16>, tensor<40x1xi32>) -> tensor<2x40xf32>
  func.return %y : tensor<2x40xf32>
}

// One zero point has no layout.
// CHECK-LABEL: func.func @one_zero_point
// CHECK:         relay.qnn.block_dense(%x, %{{.*}}, %{{.*}}, %z) {units = 8, weight_layout = "NC8n", block_size = 16}
func.func @one_zero_point(%x: tensor<2x32xf32>, %w: tensor<8x4xi32>, %s: tensor<8x2xf32>, %z: tensor<i32>) -> tensor<2x8xf32> {
  %y = relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16} : (tensor<2x32xf32>, tensor<8x4xi32>, tensor<8x2xf32>, tensor<i32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// Few units fill no vector, a packed weight stays, and so does one that is computed.
// CHECK-LABEL: func.func @others
// CHECK:         relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16}
// CHECK:         relay.qnn.block_dense(%x, %v, %t, %z) {weight_layout = "NC8n", block_size = 16}
// SAYS: relay.qnn.block_dense: vectors of 16 do not divide the 3 units
// SAYS: relay.qnn.block_dense: its weight is in NC8n already
// SAYS: relay.qnn.block_dense: the weight is computed from other values
func.func @others(%x: tensor<2x32xf32>, %w: tensor<3x4xi32>, %s: tensor<3x2xf32>, %v: tensor<2x4x8xi32>, %t: tensor<2x2x8xf32>, %z: tensor<i32>)
    -> (tensor<2x3xf32>, tensor<2x16xf32>, tensor<2x3xf32>) {
  %a = relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 16} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<2x3xf32>
  %b = relay.qnn.block_dense(%x, %v, %t, %z) {weight_layout = "NC8n", block_size = 16}
      : (tensor<2x32xf32>, tensor<2x4x8xi32>, tensor<2x2x8xf32>, tensor<i32>) -> tensor<2x16xf32>
  %n = relay.negative(%w) : (tensor<3x4xi32>) -> tensor<3x4xi32>
  %c = relay.qnn.block_dense(%x, %n, %s, %z) {block_size = 16} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<2x3xf32>
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x16xf32>, tensor<2x3xf32>
}
