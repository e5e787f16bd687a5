// RUN: xrelay-opt %s -p relay-fake-quantization-to-integer | filecheck %s
// RUN: xrelay-opt %s -p relay-fake-quantization-to-integer{use-qat=true} | filecheck %s --check-prefix QAT
// RUN: xrelay-opt %s -p 'relay-fake-quantization-to-integer{optional-qnn-ops="nn.softmax"}' | filecheck %s --check-prefix OPTIONAL
// RUN: xrelay-opt %s -p relay-fake-quantization-to-integer --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// The scale of the sums is the product of both scales.
// CHECK-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x3x8x8xui8>, %w: tensor<2x3x3x3xi8>) -> tensor<1x2x8x8xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %sw = relay.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %z = relay.constant dense<128> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %bias = relay.constant dense<[1.0, -2.0]> : tensor<2xf32>
  // CHECK: %[[SUMS:.*]] = relay.qnn.conv2d(%x, %w, %z, %zero, %s, %sw) {padding = [1, 1, 1, 1]}
  // CHECK: %[[SCALE:.*]] = relay.constant dense<[1.250000e-01, 6.250000e-02]> : tensor<2xf32>
  // CHECK: %[[BIAS:.*]] = relay.constant dense<{{\[\[\[}}8]], {{\[\[}}-32]]]> : tensor<2x1x1xi32>
  // CHECK: %[[BIASED:.*]] = relay.add(%[[SUMS]], %[[BIAS]])
  // CHECK: %[[RELU:.*]] = relay.maximum(%[[BIASED]], %{{.*}})
  // CHECK: relay.qnn.requantize(%[[RELU]], %[[SCALE]], %{{.*}}, %s, %z) {axis = 1, out_dtype = ui8}
  // CHECK-NEXT: func.return
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xf32>
  %b = relay.qnn.dequantize(%w, %sw, %zero) {axis = 0} : (tensor<2x3x3x3xi8>, tensor<2xf32>, tensor<i32>) -> tensor<2x3x3x3xf32>
  %c = relay.nn.conv2d(%a, %b) {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x8x8xf32>
  %d = relay.nn.bias_add(%c, %bias) : (tensor<1x2x8x8xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
  %e = relay.nn.relu(%d) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %y = relay.qnn.quantize(%e, %s, %z) {out_dtype = ui8} : (tensor<1x2x8x8xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x8x8xui8>
  func.return %y : tensor<1x2x8x8xui8>
}

// Equal scales and zero points need no quantisation; a value that other ops read as floats remains.
// CHECK-LABEL: @kept(
func.func @kept(%x: tensor<1x3x8x8xi8>, %s: tensor<f32>, %z: tensor<i32>) -> (tensor<1x192xi8>, tensor<1x3x8x8xf32>) {
  // CHECK: %[[FLOATS:.*]] = relay.qnn.dequantize(%x
  // CHECK: %[[FLAT:.*]] = relay.reshape(%x) {newshape = [1, 192]} : (tensor<1x3x8x8xi8>)
  // CHECK: %[[EXP:.*]] = relay.exp(%[[FLOATS]])
  // CHECK: func.return %[[FLAT]], %[[EXP]]
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xf32>
  %b = relay.reshape(%a) {newshape = [1, 192]} : (tensor<1x3x8x8xf32>) -> tensor<1x192xf32>
  %y = relay.qnn.quantize(%b, %s, %z) : (tensor<1x192xf32>, tensor<f32>, tensor<i32>) -> tensor<1x192xi8>
  %e = relay.exp(%a) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  func.return %y, %e : tensor<1x192xi8>, tensor<1x3x8x8xf32>
}

// A sum rounds to the steps of the quantisation, through a relu.
// CHECK-LABEL: @sum(
func.func @sum(%x: tensor<4xi8>, %y: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  %t = relay.constant dense<0.5> : tensor<f32>
  %u = relay.constant dense<3> : tensor<i32>
  // CHECK: %[[SUM:.*]] = relay.qnn.add(%x, %y, %s, %z, %s, %z, %{{.*}}, %{{.*}}) {lhs_axis = 0, rhs_axis = 0}
  // CHECK: %[[THREE:.*]] = relay.constant dense<3> : tensor<i8>
  // CHECK: %[[RELU:.*]] = relay.maximum(%[[SUM]], %[[THREE]])
  // CHECK: func.return %[[RELU]]
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %b = relay.qnn.dequantize(%y, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %c = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.nn.relu(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.qnn.quantize(%d, %t, %u) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %e : tensor<4xi8>
}

// A function of one 8-bit tensor becomes a table.
// CHECK-LABEL: @swish(
func.func @swish(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: %[[TABLE:.*]] = relay.constant #relay.weight<"quantised_function.table", {{.*}}> : tensor<256xi8>
  // CHECK: relay.take(%[[TABLE]], %{{.*}})
  // CHECK-NOT: relay.sigmoid
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %b = relay.sigmoid(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.multiply(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relay.qnn.quantize(%c, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: @softmax(
// OPTIONAL-LABEL: @softmax(
func.func @softmax(%x: tensor<4x9xi8>) -> tensor<4x9xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: relay.nn.softmax
  // OPTIONAL: relay.qnn.softmax
  // REMARK: relay.qnn.quantize: relay.nn.softmax has no integer form
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4x9xi8>, tensor<f32>, tensor<i32>) -> tensor<4x9xf32>
  %b = relay.nn.softmax(%a) : (tensor<4x9xf32>) -> tensor<4x9xf32>
  %y = relay.qnn.quantize(%b, %s, %z) : (tensor<4x9xf32>, tensor<f32>, tensor<i32>) -> tensor<4x9xi8>
  func.return %y : tensor<4x9xi8>
}

// The greatest integer need not represent the greatest number.
// CHECK-LABEL: @unknown_sign(
func.func @unknown_sign(%x: tensor<4x9xi8>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // CHECK: relay.max(%{{.*}}) {axis = [1]} : (tensor<4x9xf32>)
  // REMARK: relay.qnn.quantize: relay.max: {{.*}}
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4x9xi8>, tensor<f32>, tensor<i32>) -> tensor<4x9xf32>
  %b = relay.max(%a) {axis = [1]} : (tensor<4x9xf32>) -> tensor<4xf32>
  %y = relay.qnn.quantize(%b, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// No quantisation follows: only use-qat computes with integers, and dequantises the sums.
// CHECK-LABEL: @open(
// QAT-LABEL: @open(
func.func @open(%x: tensor<4x9xi8>, %w: tensor<5x9xi8>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4x5xf32> {
  // CHECK: relay.nn.dense
  // QAT: %[[SUMS:.*]] = relay.qnn.dense(%x, %w, %z, %z, %s, %s)
  // QAT: %[[SCALE:.*]] = relay.multiply(%s, %s)
  // QAT: %[[FLOATS:.*]] = relay.qnn.dequantize(%[[SUMS]], %[[SCALE]], %{{.*}})
  // QAT: relay.exp(%[[FLOATS]])
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4x9xi8>, tensor<f32>, tensor<i32>) -> tensor<4x9xf32>
  %b = relay.qnn.dequantize(%w, %s, %z) : (tensor<5x9xi8>, tensor<f32>, tensor<i32>) -> tensor<5x9xf32>
  %c = relay.nn.dense(%a, %b) : (tensor<4x9xf32>, tensor<5x9xf32>) -> tensor<4x5xf32>
  %y = relay.exp(%c) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// An input that is not dequantised: nothing changes.
// CHECK-LABEL: @input(
func.func @input(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // CHECK-NEXT: relay.nn.relu
  // CHECK-NEXT: relay.qnn.quantize
  %a = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.qnn.quantize(%a, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// A mean is rounded to the operand's scale unless the scale of the result is smaller.
// CHECK-LABEL: @mean_in_coarse_steps(
func.func @mean_in_coarse_steps(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %t = relay.constant dense<2.0> : tensor<f32>
  // CHECK: relay.qnn.avg_pool2d(%x,
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %b = relay.nn.avg_pool2d(%a) {pool_size = [3, 3]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %y = relay.qnn.quantize(%b, %t, %z) : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x2xi8>
  func.return %y : tensor<1x2x2x2xi8>
}

// If it is smaller, the mean is computed at a scale that is finer than both.
// CHECK-LABEL: @mean_in_fine_steps(
func.func @mean_in_fine_steps(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  %s = relay.constant dense<2.0> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %t = relay.constant dense<0.5> : tensor<f32>
  // CHECK: %[[FINER:.*]] = relay.constant dense<256> : tensor<i32>
  // CHECK: %[[DISTANCES:.*]] = relay.multiply(%{{.*}}, %[[FINER]])
  // CHECK: %[[SCALE:.*]] = relay.constant dense<7.812500e-03> : tensor<f32>
  // CHECK: %[[MEANS:.*]] = relay.nn.avg_pool2d(%[[DISTANCES]]) {pool_size = [3, 3]} : (tensor<1x2x4x4xi32>)
  // CHECK: relay.qnn.requantize(%[[MEANS]], %[[SCALE]],
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %b = relay.nn.avg_pool2d(%a) {pool_size = [3, 3]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %y = relay.qnn.quantize(%b, %t, %z) : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x2xi8>
  func.return %y : tensor<1x2x2x2xi8>
}

// A multiplication by a factor only changes the scale: its operand is the value of the previous quantisation, also if
// that one is replaced, too.
// CHECK-LABEL: @factor_behind_a_region(
func.func @factor_behind_a_region(%x: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK: %[[RELU:.*]] = relay.maximum(%x,
  // CHECK: %[[FIRST:.*]] = relay.qnn.requantize(%[[RELU]],
  // CHECK: relay.qnn.requantize(%[[FIRST]],
  // CHECK-NEXT: func.return
  %s = relay.constant dense<0.5> : tensor<f32>
  %t = relay.constant dense<0.3> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %factor = relay.constant dense<3.0> : tensor<f32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %b = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.qnn.quantize(%b, %t, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  %c = relay.qnn.dequantize(%q, %t, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %d = relay.multiply(%c, %factor) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = relay.qnn.quantize(%d, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}
