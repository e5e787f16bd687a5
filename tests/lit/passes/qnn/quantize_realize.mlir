// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 skip-dense-layer=false global-scale=8.0 weight-scale=max},relay-quantize-realize' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 skip-dense-layer=false global-scale=8.0},relay-quantize-realize{rounding=TONEAREST}' | filecheck %s --check-prefix NEAREST
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 skip-dense-layer=false global-scale=8.0},relay-quantize-realize' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// Products multiply 8-bit integers; their 32-bit sums are rounded to 8 bits before the next product, and dequantised at
// the end. Weights and biases are integers.
// CHECK-LABEL: @two(
// NEAREST-LABEL: @two(
func.func @two(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x8x8xf32> {
  // CHECK: %[[X:.*]] = relay.qnn.quantize(%x
  // CHECK: %[[W:.*]] = relay.constant #relay.weight<"constant.i8", {{.*}}> : tensor<2x3x3x3xi8>
  // CHECK: %[[C:.*]] = relay.qnn.conv2d(%[[X]], %[[W]], {{.*}} -> tensor<1x2x8x8xi32>
  // CHECK: %[[D:.*]] = relay.add(%[[C]], {{.*}} tensor<2x1x1xi32>
  // CHECK: %[[E:.*]] = relay.maximum(%[[D]],
  // CHECK: %[[R:.*]] = relay.qnn.requantize(%[[E]], {{.*}} -> tensor<1x2x8x8xi8>
  // CHECK: %[[F:.*]] = relay.qnn.conv2d(%[[R]], {{.*}} -> tensor<1x2x8x8xi32>
  // A constant addend is a bias, which is rounded to the scale of the sums.
  // CHECK: %[[G:.*]] = relay.add(%[[F]], {{.*}} tensor<1x1x1xi32>
  // CHECK: %[[Y:.*]] = relay.qnn.dequantize(%[[G]],
  // CHECK-NEXT: func.return %[[Y]]
  // NEAREST: relay.qnn.requantize({{.*}}) {rounding = "TONEAREST"}
  %w = relay.constant dense<0.5> : tensor<2x3x3x3xf32>
  %v = relay.constant dense<0.25> : tensor<2x2x1x1xf32>
  %b = relay.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %third = relay.constant dense<0.3333> : tensor<1x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x8x8xf32>
  %d = relay.nn.bias_add(%c, %b) : (tensor<1x2x8x8xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
  %e = relay.nn.relu(%d) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %f = relay.nn.conv2d(%e, %v) : (tensor<1x2x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %g = relay.add(%f, %third) : (tensor<1x2x8x8xf32>, tensor<1x1x1xf32>) -> tensor<1x2x8x8xf32>
  func.return %g : tensor<1x2x8x8xf32>
}

// A value that a float op reads too is dequantised for it from the 32-bit sums. The product is then emitted twice;
// relay-eliminate-common-subexpr merges both.
// CHECK-LABEL: @read_twice(
func.func @read_twice(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  // CHECK: %[[SUMS:.*]] = relay.qnn.dense(
  // CHECK: %[[FLOATS:.*]] = relay.qnn.dequantize({{.*}}tensor<1x4xi32>
  // CHECK: %[[NEXT:.*]] = relay.qnn.requantize(%[[SUMS]],
  // CHECK: relay.exp(%[[FLOATS]])
  // CHECK: relay.qnn.dense(%[[NEXT]]
  %w = relay.constant dense<0.5> : tensor<4x4xf32>
  %a = relay.nn.dense(%x, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %e = relay.exp(%a) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %b = relay.nn.dense(%a, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  func.return %e, %b : tensor<1x4xf32>, tensor<1x4xf32>
}

// Refused: 0.3 is not a multiple of the scale, so integers cannot be padded with it. The op reads the floats.
// CHECK-LABEL: @refused(
// REMARK: remark: relay-quantize-realize: relay.nn.pad: 0.3 {{.*}}
func.func @refused(%x: tensor<1x4xf32>) -> tensor<1x6xf32> {
  // CHECK: %[[FLOATS:.*]] = relay.qnn.dequantize({{.*}}tensor<1x4xi8>
  // CHECK: relay.nn.pad(%[[FLOATS]], %{{.*}})
  %w = relay.constant dense<0.5> : tensor<4x4xf32>
  %value = relay.constant dense<0.3> : tensor<f32>
  %a = relay.nn.dense(%x, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %p = relay.nn.pad(%a, %value) {pad_width = [0, 0, 1, 1]} : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x6xf32>
  func.return %p : tensor<1x6xf32>
}

// The user's own pairs of quantize and dequantize stay if no integer op results; those of the annotation are removed.
// CHECK-LABEL: @own(
func.func @own(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: relay.qnn.quantize(%x
  // CHECK-NEXT: %[[OWN:.*]] = relay.qnn.dequantize(
  // CHECK: relay.exp(%[[OWN]])
  // CHECK: relay.exp(%x)
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %q = relay.qnn.quantize(%x, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  %a = relay.qnn.dequantize(%q, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %b = relay.qnn.dequantize(%q, %s, %z) {relay.simulated} : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %c = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c, %d : tensor<4xf32>, tensor<4xf32>
}
