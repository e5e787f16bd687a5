// RUN: xrelay-opt %s -p qnn-canonicalize-ops | filecheck %s
// RUN: xrelay-opt %s -p qnn-canonicalize-ops,relay-fold-constant | filecheck %s --check-prefix FOLDED

// CHECK-LABEL: @quantize(
func.func @quantize(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<i32>) -> tensor<2x3xi8> {
  // CHECK: %[[Q:.*]] = relay.divide(%x, %{{.*}})
  // CHECK: relay.round(%[[Q]])
  // CHECK: relay.clip(%{{.*}}) {a_min = -128.0, a_max = 127.0} : (tensor<2x3xf32>)
  // CHECK-NEXT: relay.cast(%{{.*}}) {dtype = i8}
  // CHECK-NOT: relay.qnn
  %y = relay.qnn.quantize(%x, %s, %z) : (tensor<2x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<2x3xi8>
  func.return %y : tensor<2x3xi8>
}

// Each index along the axis has its own scale, which gets trailing axes.
// CHECK-LABEL: @along(
func.func @along(%q: tensor<3x4xi8>, %s: tensor<3xf32>, %z: tensor<i32>) -> tensor<3x4xf32> {
  // CHECK: relay.expand_dims(%s) {axis = 1}
  // CHECK: relay.subtract(%{{.*}}, %z) : (tensor<3x4xi32>, tensor<i32>)
  // CHECK: relay.multiply(%{{.*}}, %{{.*}}) : (tensor<3x4xf32>, tensor<3x1xf32>)
  %y = relay.qnn.dequantize(%q, %s, %z) {axis = 0} : (tensor<3x4xi8>, tensor<3xf32>, tensor<i32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// The quotient of constant scales is a 31-bit factor and a shift: 0.75 is 0.75 * 2^31 over 2^31.
// CHECK-LABEL: @requantize(
// FOLDED-LABEL: @requantize(
func.func @requantize(%q: tensor<4xi32>) -> tensor<4xi8> {
  %s = relay.constant dense<1.5> : tensor<f32>
  %t = relay.constant dense<2.0> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  // CHECK: relay.reinterpret(%{{.*}}) {dtype = i64}
  // FOLDED: %[[FACTOR:.*]] = relay.constant dense<1610612736> : tensor<i64>
  // FOLDED: relay.multiply(%{{.*}}, %[[FACTOR]]) : (tensor<4xi64>, tensor<i64>)
  // FOLDED: relay.add(%{{.*}}, %{{.*}}) : (tensor<4xi64>, tensor<i64>)
  // FOLDED: relay.right_shift(%{{.*}}, %{{.*}}) : (tensor<4xi64>, tensor<i64>)
  // FOLDED-NOT: relay.reinterpret
  // FOLDED-NOT: relay.where
  %y = relay.qnn.requantize(%q, %s, %z, %t, %z) : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// Rounding halves away from zero depends on the sign.
// CHECK-LABEL: @to_nearest(
// FOLDED-LABEL: @to_nearest(
func.func @to_nearest(%q: tensor<4xi32>) -> tensor<4xi8> {
  %s = relay.constant dense<1.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  // FOLDED: relay.less(%{{.*}}, %{{.*}}) : (tensor<4xi64>, tensor<i64>)
  // FOLDED: relay.where
  %y = relay.qnn.requantize(%q, %s, %z, %s, %z) {rounding = "TONEAREST"} : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: @in_floats(
func.func @in_floats(%q: tensor<4xi32>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  // CHECK: relay.multiply(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>)
  // CHECK: relay.floor
  // CHECK-NOT: relay.right_shift
  %y = relay.qnn.requantize(%q, %s, %z, %s, %z) {compute_dtype = f32} : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// The properties of a convolution are preserved.
// CHECK-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x4x8x8xui8>, %w: tensor<6x2x3x3xi8>, %z: tensor<i32>, %zw: tensor<6xi32>, %s: tensor<f32>) -> tensor<1x6x4x4xi32> {
  // CHECK: relay.expand_dims(%zw) {axis = 1, num_newaxis = 3}
  // CHECK: relay.nn.conv2d(%{{.*}}, %{{.*}}) {strides = [2, 2], padding = [1, 1, 1, 1], groups = 2, out_dtype = i32}
  // CHECK-NEXT: func.return
  %y = relay.qnn.conv2d(%x, %w, %z, %zw, %s, %s) {strides = [2, 2], padding = [1, 1, 1, 1], groups = 2} : (tensor<1x4x8x8xui8>, tensor<6x2x3x3xi8>, tensor<i32>, tensor<6xi32>, tensor<f32>, tensor<f32>) -> tensor<1x6x4x4xi32>
  func.return %y : tensor<1x6x4x4xi32>
}

// Ops with unknown types are unchanged.
// CHECK-LABEL: @incomplete(
func.func @incomplete(%x: !relay.incomplete, %s: tensor<f32>, %z: tensor<i32>) -> !relay.incomplete {
  // CHECK-NEXT: relay.qnn.quantize
  %y = relay.qnn.quantize(%x, %s, %z) : (!relay.incomplete, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// CHECK-LABEL: @plain(
func.func @plain(%x: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK-NEXT: relay.abs(%x)
  // CHECK-NEXT: func.return
  %y = relay.abs(%x) : (tensor<4xi8>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}
