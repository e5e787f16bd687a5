// RUN: xrelay-opt %s -p relay-alter-op-layout | filecheck %s
// RUN: xrelay-opt %s -p 'relay-alter-op-layout{tiles=tdpbusd}' | filecheck %s --check-prefix TILES
// RUN: xrelay-opt %s -p 'relay-alter-op-layout{tiles=tdpbusd vector-lanes=8}' | filecheck %s --check-prefix SHORT
// RUN: xrelay-opt %s -p relay-alter-op-layout --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// Four in-channels of a filter follow the block of filters.
// CHECK-LABEL: func.func @conv
// CHECK-DAG:     relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}
// CHECK-DAG:     relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16o4i"}
// CHECK:         relay.nn.conv2d
// CHECK-SAME:      data_layout = "NCHW16c", kernel_layout = "OIHW16o4i"
// CHECK-SAME:      (tensor<1x2x8x8x16xui8>, tensor<3x8x3x3x16x4xi8>) -> tensor<1x3x6x6x16xi32>
// Rows of tiles are longer blocks, if a vector has as many lanes as a tile has columns.
// TILES-LABEL: func.func @conv
// TILES:         data_layout = "NCHW32c", kernel_layout = "OIHW48o4i", out_layout = "NCHW48c"
// TILES-SAME:      (tensor<1x1x8x8x32xui8>, tensor<1x8x3x3x48x4xi8>) -> tensor<1x1x6x6x48xi32>
// SHORT-LABEL: func.func @conv
// SHORT:         data_layout = "NCHW8c", kernel_layout = "OIHW8o4i"
func.func @conv(%x: tensor<1x32x8x8xui8>, %w: tensor<48x32x3x3xi8>) -> tensor<1x48x6x6xi32> {
  %y = relay.nn.conv2d(%x, %w) {out_dtype = i32} : (tensor<1x32x8x8xui8>, tensor<48x32x3x3xi8>) -> tensor<1x48x6x6xi32>
  func.return %y : tensor<1x48x6x6xi32>
}

// CHECK-LABEL: func.func @sequence
// CHECK:         relay.nn.conv1d
// CHECK-SAME:      data_layout = "NCW16c", kernel_layout = "OIW16o4i"
// CHECK-SAME:      (tensor<1x2x8x16xui8>, tensor<3x8x3x16x4xi8>) -> tensor<1x3x6x16xi32>
func.func @sequence(%x: tensor<1x32x8xui8>, %w: tensor<48x32x3xi8>) -> tensor<1x48x6xi32> {
  %y = relay.nn.conv1d(%x, %w) {out_dtype = i32} : (tensor<1x32x8xui8>, tensor<48x32x3xi8>) -> tensor<1x48x6xi32>
  func.return %y : tensor<1x48x6xi32>
}

// CHECK-LABEL: func.func @dense
// CHECK:         relay.layout_transform(%w) {src_layout = "NC", dst_layout = "NC16n4c"}
// CHECK:         relay.nn.contrib_dense_pack(%x, %{{.*}}) {weight_layout = "NC16n4c", out_dtype = i32}
func.func @dense(%x: tensor<3x12xui8>, %w: tensor<32x12xi8>) -> tensor<3x32xi32> {
  %y = relay.nn.dense(%x, %w) {out_dtype = i32} : (tensor<3x12xui8>, tensor<32x12xi8>) -> tensor<3x32xi32>
  func.return %y : tensor<3x32xi32>
}

// Sums of other lengths have no blocks of four.
// CHECK-LABEL: func.func @odd
// CHECK:         relay.nn.conv2d(%x, %w) {out_dtype = i32}
// CHECK:         weight_layout = "NC16n", out_dtype
// SAYS: relay.nn.conv2d: blocks of 4 do not divide the 6 in-channels of a group
func.func @odd(%x: tensor<1x6x8x8xui8>, %w: tensor<48x6x3x3xi8>, %y: tensor<3x6xui8>, %v: tensor<32x6xi8>) -> (tensor<1x48x6x6xi32>, tensor<3x32xi32>) {
  %0 = relay.nn.conv2d(%x, %w) {out_dtype = i32} : (tensor<1x6x8x8xui8>, tensor<48x6x3x3xi8>) -> tensor<1x48x6x6xi32>
  %1 = relay.nn.dense(%y, %v) {out_dtype = i32} : (tensor<3x6xui8>, tensor<32x6xi8>) -> tensor<3x32xi32>
  func.return %0, %1 : tensor<1x48x6x6xi32>, tensor<3x32xi32>
}

// An image of few channels has a result in blocks for the next convolution. Groups and dynamic sizes have blocks of a
// vector.
// TILES-LABEL: func.func @others
// TILES:         data_layout = "NCHW4c", kernel_layout = "OIHW64o4i", out_layout = "NCHW64c"
// TILES:         data_layout = "NCHW16c", kernel_layout = "OIHW16o4i"
// TILES:         data_layout = "NCHW16c", kernel_layout = "OIHW16o4i"
func.func @others(%x: tensor<1x4x8x8xui8>, %w: tensor<64x4x1x1xi8>, %y: tensor<1x128x8x8xui8>, %v: tensor<128x64x1x1xi8>, %z: tensor<1x64x?x8xui8, #relay.dims<h>>, %u: tensor<64x64x1x1xi8>) -> (tensor<1x64x8x8xi32>, tensor<1x128x8x8xi32>, tensor<1x64x?x8xi32, #relay.dims<h>>) {
  %0 = relay.nn.conv2d(%x, %w) {out_dtype = i32} : (tensor<1x4x8x8xui8>, tensor<64x4x1x1xi8>) -> tensor<1x64x8x8xi32>
  %1 = relay.nn.conv2d(%y, %v) {out_dtype = i32, groups = 2} : (tensor<1x128x8x8xui8>, tensor<128x64x1x1xi8>) -> tensor<1x128x8x8xi32>
  %2 = relay.nn.conv2d(%z, %u) {out_dtype = i32} : (tensor<1x64x?x8xui8, #relay.dims<h>>, tensor<64x64x1x1xi8>) -> tensor<1x64x?x8xi32, #relay.dims<h>>
  func.return %0, %1, %2 : tensor<1x64x8x8xi32>, tensor<1x128x8x8xi32>, tensor<1x64x?x8xi32, #relay.dims<h>>
}
