// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:NHWC"}' --remarks 2>&1 | filecheck %s

// CHECK-DAG: remark: relay-convert-layout: relay.argmax: relay.argmax numbers elements in

// CHECK-LABEL: @follows(
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}) {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[S:.*]] = relay.strided_slice(%[[C]]) {begin = [0, 1], end = [1, 3], axes = [0, 3]} : {{.*}} -> tensor<1x6x6x2xf32>
// CHECK-NEXT:    %[[N:.*]] = relay.nn.layer_norm(%[[S]], %g, %g) {axis = 2}
// CHECK-NEXT:    %[[L:.*]] = relay.nn.l2_normalize(%[[N]]) {eps = {{.*}}, axis = [3]}
// CHECK-NEXT:    relay.argmax(%[[L]]) {axis = [1, 2]} : {{.*}} -> tensor<1x2xi32>
func.func @follows(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x1x1xf32>, %g: tensor<6xf32>) -> tensor<1x2xi32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  %s = relay.strided_slice(%c) {begin = [0, 1], end = [1, 3]} : (tensor<1x4x6x6xf32>) -> tensor<1x2x6x6xf32>
  %n = relay.nn.layer_norm(%s, %g, %g) : (tensor<1x2x6x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x2x6x6xf32>
  %l = relay.nn.l2_normalize(%n) {eps = 1.0e-03, axis = [1]} : (tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %m = relay.argmax(%l) {axis = [2, 3]} : (tensor<1x2x6x6xf32>) -> tensor<1x2xi32>
  func.return %m : tensor<1x2xi32>
}

// Along channels and rows the indices of argmax count elements in another order.
// CHECK-LABEL: @refuses(
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}) {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[B:.*]] = relay.layout_transform(%[[C]]) {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT:    relay.argmax(%[[B]]) {axis = [1, 2]}
func.func @refuses(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x6xi32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  %m = relay.argmax(%c) {axis = [1, 2]} : (tensor<1x4x6x6xf32>) -> tensor<1x6xi32>
  func.return %m : tensor<1x6xi32>
}

// Both fields of the tuple are converted back.
// CHECK-LABEL: @sorted(
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}) {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[T:.*]] = relay.topk(%[[C]]) {k = 2, axis = 2} : {{.*}} -> tuple<tensor<1x6x2x4xf32>, tensor<1x6x2x4xi32>>
// CHECK-DAG:     relay.layout_transform({{.*}}) {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x6x2x4xf32>)
// CHECK-DAG:     relay.layout_transform({{.*}}) {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x6x2x4xi32>)
func.func @sorted(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x1x1xf32>) -> (tensor<1x4x6x2xf32>, tensor<1x4x6x2xi32>) {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  %t = relay.topk(%c) {k = 2} : (tensor<1x4x6x6xf32>) -> tuple<tensor<1x4x6x2xf32>, tensor<1x4x6x2xi32>>
  %a = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<1x4x6x2xf32>, tensor<1x4x6x2xi32>>) -> tensor<1x4x6x2xf32>
  %b = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<1x4x6x2xf32>, tensor<1x4x6x2xi32>>) -> tensor<1x4x6x2xi32>
  func.return %a, %b : tensor<1x4x6x2xf32>, tensor<1x4x6x2xi32>
}

// Both operands are in NHWC.
// CHECK-LABEL: @like(
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}) {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[P:.*]] = relay.nn.max_pool2d(%[[C]])
// CHECK-NEXT:    relay.slice_like(%[[C]], %[[P]]) {axes = [1, 2]} : {{.*}} -> tensor<1x5x5x4xf32>
func.func @like(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<1x4x5x5xf32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  %p = relay.nn.max_pool2d(%c) {pool_size = [2, 2]} : (tensor<1x4x6x6xf32>) -> tensor<1x4x5x5xf32>
  %s = relay.slice_like(%c, %p) {axes = [2, 3]} : (tensor<1x4x6x6xf32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  func.return %s : tensor<1x4x5x5xf32>
}

// If the axes of the other tensor differ, the operand is converted back to the program's layout.
// CHECK-LABEL: @like_others(
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}) {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[B:.*]] = relay.layout_transform(%[[C]]) {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT:    relay.slice_like(%[[B]], %l) {axes = [2]}
func.func @like_others(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x1x1xf32>, %l: tensor<3x3x2xf32>) -> tensor<1x4x2x6xf32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
  %t = relay.slice_like(%c, %l) {axes = [2]} : (tensor<1x4x6x6xf32>, tensor<3x3x2xf32>) -> tensor<1x4x2x6xf32>
  func.return %t : tensor<1x4x2x6xf32>
}
