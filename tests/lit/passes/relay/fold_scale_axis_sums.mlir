// RUN: xrelay-opt %s -p relay-fold-scale-axis,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p 'relay-fold-scale-axis{weights=any},relay-dead-code-elimination' | filecheck %s --check-prefix ANY

// Both sides of a sum are scaled, with the addends of one side and those after the sum.
// CHECK-LABEL: @sum(
// CHECK-DAG:     %[[V:.*]] = relay.constant dense<6.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[W:.*]] = relay.constant dense<1.500000e+01> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<3.000000e+00> : tensor<2x1x1xf32>
// CHECK-DAG:     %[[A:.*]] = relay.nn.conv2d(%x, %[[V]])
// CHECK-DAG:     %[[R:.*]] = relay.nn.relu(%[[A]])
// CHECK-DAG:     %[[C:.*]] = relay.nn.conv2d(%x, %[[W]])
// CHECK-DAG:     %[[D:.*]] = relay.add(%[[C]], %[[B]])
// CHECK:         %[[S:.*]] = relay.subtract(%[[R]], %[[D]])
// CHECK:         %[[Y:.*]] = relay.nn.relu(%[[S]])
// CHECK:         func.return %[[Y]]
func.func @sum(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %v = relay.constant dense<2.0> : tensor<2x1x1x1xf32>
  %w = relay.constant dense<5.0> : tensor<2x1x1x1xf32>
  %b = relay.constant dense<1.0> : tensor<2x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<2x1x1xf32>
  %a = relay.nn.conv2d(%x, %v) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.nn.relu(%a) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %d = relay.add(%c, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %e = relay.subtract(%r, %d) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %q = relay.nn.relu(%e) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.multiply(%q, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// A side may be a product with another factor, and a sum itself.
// CHECK-LABEL: @sum_of_sums(
// CHECK-COUNT-1: relay.multiply(%x
// CHECK-NOT:     relay.multiply
func.func @sum_of_sums(%x: tensor<1x2xf32>, %z: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %f = relay.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %s = relay.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %m = relay.multiply(%x, %f) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %a = relay.nn.dense(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %b = relay.nn.dense(%z, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %c = relay.add(%a, %b) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %d = relay.add(%m, %c) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = relay.multiply(%d, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// Dynamic values are multiplied by the factor once.
// ANY-LABEL: @values(
// ANY:         %[[Q:.*]] = relay.squeeze
// ANY:         relay.expand_dims(%[[Q]])
// ANY:         relay.expand_dims(%[[Q]])
// ANY:         %[[S:.*]] = relay.add
// ANY-NEXT:    func.return %[[S]]
// CHECK-LABEL: @values(
// CHECK:         relay.multiply
func.func @values(%x: tensor<1x1x4x4xf32>, %v: tensor<2x1x1x1xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %s = relay.constant dense<[[[3.0]], [[-2.0]]]> : tensor<2x1x1xf32>
  %a = relay.nn.conv2d(%x, %v) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %b = relay.nn.conv2d(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %c = relay.add(%a, %b) : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// Rejected: a side without a heavy op, a side with another use, channels along different axes.
// CHECK-LABEL: @parameter(
// CHECK:         relay.multiply
func.func @parameter(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = relay.constant dense<1.0> : tensor<2x2xf32>
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %a = relay.nn.dense(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %c = relay.add(%a, %x) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// CHECK-LABEL: @used_twice(
// CHECK:         relay.multiply
func.func @used_twice(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %w = relay.constant dense<1.0> : tensor<2x2xf32>
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %a = relay.nn.dense(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %c = relay.add(%a, %a) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y, %a : tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK-LABEL: @other_axes(
// CHECK:         relay.multiply
func.func @other_axes(%x: tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32> {
  %w = relay.constant dense<1.0> : tensor<2x2x1x1xf32>
  %s = relay.constant dense<2.0> : tensor<f32>
  %a = relay.nn.conv2d(%x, %w) : (tensor<2x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x2x2xf32>
  %b = relay.nn.conv2d(%x, %w) {out_layout = "CNHW"} : (tensor<2x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x2x2xf32>
  %c = relay.add(%a, %b) : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<2x2x2x2xf32>, tensor<f32>) -> tensor<2x2x2x2xf32>
  func.return %y : tensor<2x2x2x2xf32>
}
