// RUN: xrelay-opt %s -p "relay-alter-op-layout{vector-lanes=8}" | filecheck %s
// RUN: xrelay-opt %s -p "relay-alter-op-layout{vector-lanes=8}" --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// A composite that accepts its operand's layout stays whole: along an axis that is not split, or elementwise.
// CHECK-LABEL: func.func @whole
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}data_layout = "NCHW8c"
// CHECK-NEXT:    %[[G:.*]] = relay.nn.gelu(%[[C]]) : {{.*}} -> tensor<1x2x4x4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = relay.nn.log_softmax(%[[G]]) {axis = 3} : (tensor<1x2x4x4x8xf32>) -> tensor<1x2x4x4x8xf32>
// CHECK-NEXT:    relay.layout_transform(%[[S]]) {src_layout = "NCHW8c", dst_layout = "NCHW"}
func.func @whole(%x: tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %g = relay.nn.gelu(%c) : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  %s = relay.nn.log_softmax(%g) {axis = 3 : i64} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  func.return %s : tensor<1x16x4x4xf32>
}

// Along the split channels it is expanded: the slopes are blocked like the channels.
// CHECK-LABEL: func.func @parts
// CHECK-NOT:     relay.nn.prelu
// CHECK:         %[[C:.*]] = relay.nn.conv2d({{.*}}data_layout = "NCHW8c"
// CHECK:         %[[A:.*]] = relay.layout_transform({{.*}}) {src_layout = "NCHW", dst_layout = "NCHW8c"} : (tensor<1x16x1x1xf32>) -> tensor<1x2x1x1x8xf32>
// CHECK:         relay.multiply(%[[C]], %[[A]])
// CHECK:         %[[Y:.*]] = relay.where({{.*}}) : (tensor<1x2x4x4x8xi1>, tensor<1x2x4x4x8xf32>, tensor<1x2x4x4x8xf32>)
// CHECK:         relay.nn.conv2d(%[[Y]],
// REMARK: relay.nn.prelu: is expanded to ops that work in NCHW8c
func.func @parts(%x: tensor<1x16x4x4xf32>, %alpha: tensor<16xf32>) -> tensor<1x16x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %p = relay.nn.prelu(%c, %alpha) : (tensor<1x16x4x4xf32>, tensor<16xf32>) -> tensor<1x16x4x4xf32>
  %d = relay.nn.conv2d(%p, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  func.return %d : tensor<1x16x4x4xf32>
}

// A part with a required layout keeps it whole, in the program's layout.
// CHECK-LABEL: func.func @left
// CHECK:         %[[T:.*]] = relay.layout_transform({{.*}}) {src_layout = "NCHW8c", dst_layout = "NCHW"}
// CHECK:         relay.nn.group_norm(%[[T]],
// REMARK: relay.nn.group_norm: layout NCHW8c splits the axis along which relay.nn.group_norm computes
func.func @left(%x: tensor<1x16x4x4xf32>, %g: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<1x16x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %n = relay.nn.group_norm(%c, %g, %b) {num_groups = 4 : i64} : (tensor<1x16x4x4xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x4x4xf32>
  func.return %n : tensor<1x16x4x4xf32>
}
