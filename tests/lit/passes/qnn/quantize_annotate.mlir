// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 skip-dense-layer=false weight-scale=max}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 skip-dense-layer=false weight-scale=max}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 per-channel=true dtype-input=uint8}' | filecheck %s --check-prefix CHANNELS
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{skip-conv-layers=-1 nbit-input=4 nbit-weight=5}' | filecheck %s --check-prefix BITS
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{global-scale=8.0}' | filecheck %s --check-prefix GLOBAL
// RUN: xrelay-opt %s -p 'relay-quantize-annotate{global-scale=8.0 skip-conv-layers=-1 enabled-ops="nn.dense"}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix ENABLED

// Both operands are rounded; a value that no integer op reads stays.
// CHECK-LABEL: @conv2d(
// CHANNELS-LABEL: @conv2d(
// BITS-LABEL: @conv2d(
// GLOBAL-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x8x8xf32> {
  // CHECK: %[[S:.*]] = relay.constant dense<2.000000e-02> : tensor<f32>
  // CHECK: %[[Z:.*]] = relay.constant dense<0> : tensor<i32>
  // CHECK: %[[Q:.*]] = relay.qnn.quantize(%x, %[[S]], %[[Z]]) : {{.*}} -> tensor<1x3x8x8xi8>
  // CHECK: %[[A:.*]] = relay.qnn.dequantize(%[[Q]], %[[S]], %[[Z]]) {relay.simulated}
  // CHECK: %w = relay.constant dense<6.350000e-01>
  // CHECK: %[[T:.*]] = relay.constant dense<5.000000e-03> : tensor<f32>
  // CHECK: %[[V:.*]] = relay.qnn.quantize(%w, %[[T]], %{{.*}})
  // CHECK: %[[B:.*]] = relay.qnn.dequantize(%[[V]], %[[T]], %{{.*}}) {relay.simulated}
  // CHECK: relay.nn.conv2d(%[[A]], %[[B]]) {padding = [1, 1, 1, 1]}
  // CHECK: relay.exp(%c)

  // Unsigned numbers cover the range of the tensor; a weight has a scale for each of its two filters.
  // CHANNELS: relay.constant dense<129> : tensor<i32>
  // CHANNELS: relay.qnn.quantize(%x, {{.*}}) {out_dtype = ui8}
  // CHANNELS: relay.qnn.quantize(%w, {{.*}}) {axis = 0} : (tensor<2x3x3x3xf32>, tensor<2xf32>, tensor<2xi32>)

  // Fewer bits than the element type has are clipped: 4 bits are at most 7, 5 bits at most 15.
  // BITS: %[[Q:.*]] = relay.qnn.quantize(%x
  // BITS-NEXT: %[[C:.*]] = relay.clip(%[[Q]]) {a_min = -7.0, a_max = 7.0}
  // BITS-NEXT: relay.qnn.dequantize(%[[C]],
  // BITS: relay.clip({{.*}}) {a_min = -15.0, a_max = 15.0}

  // The first convolution is unchanged by default, as in Relay.
  // GLOBAL-NOT: relay.qnn
  // GLOBAL: func.return

  %w = relay.constant dense<0.635> : tensor<2x3x3x3xf32>
  %c = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], relay.calibrated = [array<f64: -2.54, 2.5>, unit]} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x8x8xf32>
  %e = relay.exp(%c) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  func.return %e : tensor<1x2x8x8xf32>
}

// A bias and a relu apply to 32-bit sums; their result is rounded once, for both the product and the sum that read it.
// A sum of two tensors is rounded after its relu, and a pool computes on 8 bits, which the dense layer reads directly.
// CHECK-LABEL: @block(
func.func @block(%x: tensor<1x2x8x8xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x3xf32>) {
  // CHECK: %c = relay.nn.conv2d(
  // CHECK: %d = relay.nn.bias_add(%c, %b)
  // CHECK: %e = relay.nn.relu(%d)
  // CHECK: %[[Q:.*]] = relay.qnn.quantize(%e,
  // CHECK: %[[E:.*]] = relay.qnn.dequantize(%[[Q]],
  // CHECK: %f = relay.nn.conv2d(%[[E]],
  // CHECK: %g = relay.add(%f, %[[E]])
  // CHECK-NEXT: %h = relay.nn.relu(%g)
  // CHECK: relay.qnn.quantize(%h,
  // CHECK: %[[H:.*]] = relay.qnn.dequantize(
  // CHECK-NEXT: %p = relay.nn.max_pool2d(%[[H]])
  // CHECK-NEXT: %q = relay.nn.batch_flatten(%p)
  // CHECK: %r = relay.nn.dense(%q, %{{.*}})
  // CHECK-NEXT: func.return %p, %r
  %w = relay.constant dense<0.5> : tensor<2x2x1x1xf32>
  %v = relay.constant dense<0.5> : tensor<3x32xf32>
  %b = relay.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %c = relay.nn.conv2d(%x, %w) {relay.calibrated = [array<f64: -2.0, 2.0>, unit]} : (tensor<1x2x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %d = relay.nn.bias_add(%c, %b) : (tensor<1x2x8x8xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
  %e = relay.nn.relu(%d) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %f = relay.nn.conv2d(%e, %w) {relay.calibrated = [array<f64: 0.0, 3.0>, unit]} : (tensor<1x2x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %g = relay.add(%f, %e) : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %h = relay.nn.relu(%g) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %p = relay.nn.max_pool2d(%h) {pool_size = [2, 2], strides = [2, 2], relay.calibrated = [array<f64: 0.0, 4.0>]} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  %q = relay.nn.batch_flatten(%p) : (tensor<1x2x4x4xf32>) -> tensor<1x32xf32>
  %r = relay.nn.dense(%q, %v) {relay.calibrated = [array<f64: 0.0, 4.0>, unit]} : (tensor<1x32xf32>, tensor<3x32xf32>) -> tensor<1x3xf32>
  func.return %p, %r : tensor<1x2x4x4xf32>, tensor<1x3xf32>
}

// Each concatenated part is rounded, and so is the concatenation where it is read.
// CHECK-LABEL: @joined(
func.func @joined(%x: tensor<1x4xf32>) -> tensor<1x8xf32> {
  // CHECK: %[[A:.*]] = relay.qnn.dequantize(
  // CHECK: %c = relay.nn.dense(%[[A]],
  // CHECK: %[[C:.*]] = relay.qnn.dequantize(
  // CHECK: %t = relay.tuple(%[[C]], %[[A]])
  // CHECK-NEXT: %j = relay.concatenate(%t)
  // CHECK: %[[J:.*]] = relay.qnn.dequantize(
  // CHECK-NEXT: relay.copy(%[[J]])
  %w = relay.constant dense<0.5> : tensor<4x4xf32>
  %c = relay.nn.dense(%x, %w) {relay.calibrated = [array<f64: -1.0, 1.0>, unit]} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %t = relay.tuple(%c, %x) {relay.calibrated = [array<f64: -4.0, 4.0>, unit]} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tuple<tensor<1x4xf32>, tensor<1x4xf32>>
  %j = relay.concatenate(%t) {axis = 1} : (tuple<tensor<1x4xf32>, tensor<1x4xf32>>) -> tensor<1x8xf32>
  %y = relay.copy(%j) {relay.calibrated = [array<f64: -4.0, 4.0>]} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// Refused: a weight that is not a constant, unknown bounds, values that are not finite, sums beyond 32 bits.
// CHECK-LABEL: @refused(
// REMARK: relay.nn.dense: its weight
// REMARK: relay.nn.dense: the bounds of operand #0
// REMARK: relay.nn.dense: operand #1 {{.*}} not finite
// REMARK: relay.nn.dense: a sum of 70000 {{.*}}
// REMARK: relay.nn.dense: a sum of inf {{.*}}
func.func @refused(%x: tensor<1x2xf32>, %y: tensor<1x70000xf32>, %v: tensor<2x2xf32>, %n: tensor<1x?xf32, #relay.dims<n>>, %m: tensor<2x?xf32, #relay.dims<n>>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x2xf32>) {
  // CHECK-NOT: relay.qnn
  // CHECK: func.return
  %w = relay.constant dense<0.5> : tensor<2x2xf32>
  %inf = relay.constant dense<0x7F800000> : tensor<2x2xf32>
  %big = relay.constant dense<0.5> : tensor<1x70000xf32>
  %a = relay.nn.dense(%x, %v) {relay.calibrated = [array<f64: -1.0, 1.0>, unit]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %b = relay.nn.dense(%a, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %c = relay.nn.dense(%x, %inf) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %d = relay.nn.dense(%y, %big) {relay.calibrated = [array<f64: -1.0, 1.0>, unit]} : (tensor<1x70000xf32>, tensor<1x70000xf32>) -> tensor<1x1xf32>
  %e = relay.nn.dense(%n, %m) : (tensor<1x?xf32, #relay.dims<n>>, tensor<2x?xf32, #relay.dims<n>>) -> tensor<1x2xf32>
  func.return %a, %b, %c, %d, %e : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x2xf32>
}

// Left alone: a program without products, and products of integers.
// CHECK-LABEL: @alone(
func.func @alone(%x: tensor<4xf32>, %i: tensor<1x4xi8>, %j: tensor<2x4xi8>) -> (tensor<4xf32>, tensor<1x2xi32>) {
  // CHECK-NEXT: relay.nn.relu(%x)
  // CHECK-NEXT: relay.nn.dense(%i, %j)
  // CHECK-NEXT: func.return
  %a = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.nn.dense(%i, %j) {out_dtype = i32} : (tensor<1x4xi8>, tensor<2x4xi8>) -> tensor<1x2xi32>
  func.return %a, %b : tensor<4xf32>, tensor<1x2xi32>
}

// A remark names each value that stays because a float op reads it; products report the rounded operands.
// REMARK: remark: relay-quantize-annotate: relay.exp: {{.*}}
// REMARK: remark: relay-quantize-annotate: relay.nn.conv2d: operand #0 is rounded to 8 bits
// REMARK: remark: relay-quantize-annotate: relay.nn.conv2d: operand #1 is rounded to 8 bits

// ENABLED: relay.nn.conv2d: {{.*}}
// ENABLED: relay.nn.dense: skip-dense-layer is set
