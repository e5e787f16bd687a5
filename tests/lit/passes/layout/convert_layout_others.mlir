// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="qnn.conv2d:NHWC:default","nn.conv1d:NWC","nn.conv3d:NDHWC:DHWIO","nn.max_pool1d:NWC"}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="qnn.conv2d:NCHW4c"}' --remarks 2>&1 | filecheck %s --check-prefix BLOCKS
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv1d:NCW4c"}' 2>&1 | filecheck %s --check-prefix SPLIT

// SPLIT: relay-convert-layout: desired-layouts[0] 'nn.conv1d:NCW4c': layout NCW4c splits C; no axis may be split

// Quantised operators follow; scales along the channels follow in `axis`.
// CHECK-LABEL: @quantised(
// CHECK-DAG:     %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-DAG:     %[[W:.*]] = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWIO"}
// CHECK:         %[[C:.*]] = relay.qnn.conv2d(%[[X]], %[[W]], %z, %z, %s, %sw) {data_layout = "NHWC", kernel_layout = "HWIO"} {{.*}} -> tensor<1x6x6x4xi32>
// CHECK-NEXT:    %[[R:.*]] = relay.qnn.requantize(%[[C]], %sw, %z, %s, %z) {axis = 3}
// CHECK-NEXT:    %[[S:.*]] = relay.qnn.add(%[[R]], %[[R]], %s, %z, %s, %z, %s, %z)
// CHECK-NEXT:    %[[U:.*]] = relay.qnn.sigmoid(%[[S]], %s, %z, %s, %z)
// CHECK-NEXT:    %[[M:.*]] = relay.qnn.softmax(%[[U]], %s, %z, %s, %z) {axis = 3}
// CHECK-NEXT:    relay.layout_transform(%[[M]]) {src_layout = "NHWC", dst_layout = "NCHW"}
// Scales along the channels prevent their split: the requantisation is expanded, and the softmax stays.
// BLOCKS-DAG: remark: relay-convert-layout: relay.qnn.conv2d: works in NCHW4c
// BLOCKS-DAG: remark: relay-convert-layout: relay.qnn.requantize: is expanded to ops that work in NCHW4c
// BLOCKS-DAG: remark: relay-convert-layout: relay.qnn.conv2d: layout OIHW4i4o splits the axis along which the zero points of the weight lie
// BLOCKS-LABEL: @quantised(
// BLOCKS:         relay.qnn.conv2d({{.*}}) {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"}
// BLOCKS:         relay.qnn.softmax({{.*}}) {axis = 1} : (tensor<1x4x6x6xi8>
func.func @quantised(%x: tensor<1x8x8x8xui8>, %w: tensor<4x8x3x3xi8>, %z: tensor<i32>, %s: tensor<f32>, %sw: tensor<4xf32>) -> tensor<1x4x6x6xi8> {
  %c = relay.qnn.conv2d(%x, %w, %z, %z, %s, %sw) : (tensor<1x8x8x8xui8>, tensor<4x8x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<4xf32>) -> tensor<1x4x6x6xi32>
  %r = relay.qnn.requantize(%c, %sw, %z, %s, %z) {axis = 1} : (tensor<1x4x6x6xi32>, tensor<4xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x6x6xi8>
  %a = relay.qnn.add(%r, %r, %s, %z, %s, %z, %s, %z) : (tensor<1x4x6x6xi8>, tensor<1x4x6x6xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x6x6xi8>
  %u = relay.qnn.sigmoid(%a, %s, %z, %s, %z) : (tensor<1x4x6x6xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x6x6xi8>
  %m = relay.qnn.softmax(%u, %s, %z, %s, %z) {axis = 1} : (tensor<1x4x6x6xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x6x6xi8>
  func.return %m : tensor<1x4x6x6xi8>
}

// CHECK-LABEL: @joined(
// CHECK:         %[[J:.*]] = relay.qnn.concatenate({{.*}}) {axis = 3} {{.*}} -> tensor<1x6x6x8xi32>
// CHECK-NEXT:    %[[D:.*]] = relay.qnn.requantize(%[[J]], %s, %z, %s, %z) : {{.*}} -> tensor<1x6x6x8xi8>
// CHECK-NEXT:    relay.layout_transform(%[[D]]) {src_layout = "NHWC", dst_layout = "NCHW"}
func.func @joined(%x: tensor<1x8x8x8xui8>, %w: tensor<4x8x3x3xi8>, %z: tensor<i32>, %s: tensor<f32>, %y: tensor<f32>) -> tensor<1x8x6x6xi8> {
  %a = relay.qnn.conv2d(%x, %w, %z, %z, %s, %s) : (tensor<1x8x8x8xui8>, tensor<4x8x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x6x6xi32>
  %b = relay.qnn.conv2d(%x, %w, %z, %z, %s, %y) : (tensor<1x8x8x8xui8>, tensor<4x8x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x6x6xi32>
  %t = relay.tuple(%a, %b) : (tensor<1x4x6x6xi32>, tensor<1x4x6x6xi32>) -> tuple<tensor<1x4x6x6xi32>, tensor<1x4x6x6xi32>>
  %ts = relay.tuple(%s, %s) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %tz = relay.tuple(%z, %z) : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
  %j = relay.qnn.concatenate(%t, %ts, %tz, %s, %z) {axis = 1} : (tuple<tensor<1x4x6x6xi32>, tensor<1x4x6x6xi32>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> tensor<1x8x6x6xi32>
  %r = relay.qnn.requantize(%j, %s, %z, %s, %z) : (tensor<1x8x6x6xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x8x6x6xi8>
  func.return %r : tensor<1x8x6x6xi8>
}

// BLOCKS-LABEL: @zero_points_along_filters(
// BLOCKS:         relay.qnn.conv2d(%x, %w, %zx, %zw, %sx, %sw) :
func.func @zero_points_along_filters(%x: tensor<1x8x8x8xui8>, %w: tensor<4x8x3x3xi8>, %zx: tensor<i32>, %zw: tensor<4xi32>, %sx: tensor<f32>, %sw: tensor<4xf32>) -> tensor<1x4x6x6xi32> {
  %c = relay.qnn.conv2d(%x, %w, %zx, %zw, %sx, %sw) : (tensor<1x8x8x8xui8>, tensor<4x8x3x3xi8>, tensor<i32>, tensor<4xi32>, tensor<f32>, tensor<4xf32>) -> tensor<1x4x6x6xi32>
  func.return %c : tensor<1x4x6x6xi32>
}

// CHECK-LABEL: @one_axis(
// CHECK:         relay.nn.conv1d({{.*}}) {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x8x4xf32>, tensor<3x4x2xf32>) -> tensor<1x6x2xf32>
// CHECK-NEXT:    %[[P:.*]] = relay.nn.max_pool1d({{.*}}) {{{.*}}layout = "NWC"{{.*}}}
// CHECK-NEXT:    relay.layout_transform(%[[P]]) {src_layout = "NWC", dst_layout = "NCW"}
func.func @one_axis(%x: tensor<1x4x8xf32>, %w: tensor<2x4x3xf32>) -> tensor<1x2x3xf32> {
  %c = relay.nn.conv1d(%x, %w) : (tensor<1x4x8xf32>, tensor<2x4x3xf32>) -> tensor<1x2x6xf32>
  %p = relay.nn.max_pool1d(%c) {pool_size = [2], strides = [2]} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  func.return %p : tensor<1x2x3xf32>
}

// CHECK-LABEL: @three_axes(
// CHECK:         relay.nn.conv3d({{.*}}) {data_layout = "NDHWC", kernel_layout = "DHWIO"} {{.*}} -> tensor<1x2x2x2x3xf32>
func.func @three_axes(%x: tensor<1x2x4x4x4xf32>, %w: tensor<3x2x3x3x3xf32>) -> tensor<1x3x2x2x2xf32> {
  %c = relay.nn.conv3d(%x, %w) : (tensor<1x2x4x4x4xf32>, tensor<3x2x3x3x3xf32>) -> tensor<1x3x2x2x2xf32>
  func.return %c : tensor<1x3x2x2x2xf32>
}
