// RUN: xrelay-opt %s -p qnn-fold-quantize-scale | filecheck %s
// RUN: xrelay-opt %s -p qnn-fold-quantize-scale --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// Factors of products, biases and dequantised data are divided by the scale 0.25.
// CHECK-LABEL: func.func @layer
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<1.200000e+01> : tensor<8x1x1xf32>
// CHECK:         %[[S:.*]] = relay.constant dense<2.000000e+00> : tensor<8x1x1xf32>
// CHECK-NEXT:    %[[A:.*]] = relay.multiply(%[[S]], %p)
// CHECK:         relay.add(%[[A]], %[[B]])
// CHECK:         %[[ONE:.*]] = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    relay.qnn.dequantize(%r, %[[ONE]], %z)
// CHECK:         relay.nn.relu
// CHECK:         relay.nn.max_pool2d
// CHECK:         relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    relay.qnn.quantize(%m, %{{.*}}, %z) {out_dtype = ui8}
// SAYS: relay.qnn.quantize: constants are divided by its scale
func.func @layer(%p: tensor<1x8x4x4xf32>, %r: tensor<1x8x4x4xui8>) -> tensor<1x8x2x2xui8> {
  %s = relay.constant dense<0.5> : tensor<8x1x1xf32>
  %b = relay.constant dense<3.0> : tensor<8x1x1xf32>
  %t = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %a = relay.multiply(%s, %p) : (tensor<8x1x1xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %c = relay.add(%a, %b) : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %d = relay.qnn.dequantize(%r, %t, %z) : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<i32>) -> tensor<1x8x4x4xf32>
  %e = relay.add(%c, %d) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %y = relay.nn.relu(%e) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %m = relay.nn.max_pool2d(%y) {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>
  %q = relay.qnn.quantize(%m, %t, %z) {out_dtype = ui8} : (tensor<1x8x2x2xf32>, tensor<f32>, tensor<i32>) -> tensor<1x8x2x2xui8>
  func.return %q : tensor<1x8x2x2xui8>
}

// Both fields of a concatenation are divided.
// CHECK-LABEL: func.func @joined
// CHECK-COUNT-2: relay.constant dense<5.000000e-01> : tensor<f32>
// CHECK:         relay.concatenate
func.func @joined(%r: tensor<4xui8>, %x: tensor<4xf32>) -> tensor<8xui8> {
  %t = relay.constant dense<0.25> : tensor<f32>
  %u = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %d = relay.qnn.dequantize(%r, %t, %z) : (tensor<4xui8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %m = relay.multiply(%x, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %p = relay.tuple(%d, %m) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %c = relay.concatenate(%p) {axis = 0} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<8xf32>
  %q = relay.qnn.quantize(%c, %u, %z) {out_dtype = ui8} : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<8xui8>
  func.return %q : tensor<8xui8>
}

// The weight of a convolution is divided, its data is not; the bias is divided, too. A product by a parameter is left alone.
// CHECK-LABEL: func.func @depthwise
// CHECK-DAG:     %[[K:.*]] = relay.constant dense<2.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<1.200000e+01> : tensor<2x1x1xf32>
// CHECK:         %[[D:.*]] = relay.nn.conv2d(%x, %[[K]]) {groups = 2}
// CHECK:         relay.add(%[[D]], %[[B]])
// CHECK:         %[[T:.*]] = relay.constant dense<2.500000e-01> : tensor<f32>
// CHECK:         %[[E:.*]] = relay.nn.conv2d(%x, %v)
// CHECK-NEXT:    relay.qnn.quantize(%[[E]], %[[T]], %{{.*}})
func.func @depthwise(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8> {
  %k = relay.constant dense<0.5> : tensor<2x1x1x1xf32>
  %b = relay.constant dense<3.0> : tensor<2x1x1xf32>
  %t = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %d = relay.nn.conv2d(%x, %k) {groups = 2} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = relay.add(%d, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %q = relay.qnn.quantize(%s, %t, %z) {out_dtype = ui8} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xui8>
  func.return %q : tensor<1x2x4x4xui8>
}

func.func @weight_parameter(%x: tensor<1x2x4x4xf32>, %v: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xui8> {
  %t = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %e = relay.nn.conv2d(%x, %v) {groups = 2} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %q = relay.qnn.quantize(%e, %t, %z) {out_dtype = ui8} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xui8>
  func.return %q : tensor<1x2x4x4xui8>
}

// A dequantised tensor that another op reads keeps its own scale.
// CHECK-LABEL: func.func @shared
// CHECK:         %[[H:.*]] = relay.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    relay.qnn.dequantize(%r, %[[H]], %z)
// CHECK-NEXT:    %[[D:.*]] = relay.qnn.dequantize(%r, %t, %z)
// CHECK:         func.return %{{.*}}, %[[D]]
func.func @shared(%r: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xf32>) {
  %t = relay.constant dense<0.25> : tensor<f32>
  %u = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %d = relay.qnn.dequantize(%r, %t, %z) : (tensor<4xui8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %y = relay.nn.relu(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.qnn.quantize(%y, %u, %z) {out_dtype = ui8} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xui8>
  func.return %q, %d : tensor<4xui8>, tensor<4xf32>
}

// Data without a constant factor, another function than a linear one, a sum with two uses, a scale for each channel, and
// a quotient that f32 does not represent are left alone.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     dense<1.000000e+00>
// CHECK:         func.return
func.func @others(%x: tensor<4x2xf32>, %r: tensor<4x2xui8>) -> (tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xf32>, tensor<4x2xui8>, tensor<4x2xui8>) {
  %t = relay.constant dense<0.25> : tensor<f32>
  %c = relay.constant dense<0.25> : tensor<2xf32>
  %l = relay.constant dense<1.0e-30> : tensor<f32>
  %g = relay.constant dense<1.0e+30> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %d = relay.qnn.dequantize(%r, %t, %z) : (tensor<4x2xui8>, tensor<f32>, tensor<i32>) -> tensor<4x2xf32>
  %0 = relay.add(%x, %d) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = relay.qnn.quantize(%0, %t, %z) {out_dtype = ui8} : (tensor<4x2xf32>, tensor<f32>, tensor<i32>) -> tensor<4x2xui8>
  %2 = relay.tanh(%d) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %3 = relay.qnn.quantize(%2, %t, %z) {out_dtype = ui8} : (tensor<4x2xf32>, tensor<f32>, tensor<i32>) -> tensor<4x2xui8>
  %4 = relay.nn.relu(%d) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = relay.qnn.quantize(%4, %t, %z) {out_dtype = ui8} : (tensor<4x2xf32>, tensor<f32>, tensor<i32>) -> tensor<4x2xui8>
  %6 = relay.qnn.quantize(%d, %c, %z) {axis = 1, out_dtype = ui8} : (tensor<4x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xui8>
  %7 = relay.multiply(%x, %g) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %8 = relay.qnn.quantize(%7, %l, %z) {out_dtype = ui8} : (tensor<4x2xf32>, tensor<f32>, tensor<i32>) -> tensor<4x2xui8>
  func.return %1, %3, %5, %4, %6, %8 : tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xui8>, tensor<4x2xf32>, tensor<4x2xui8>, tensor<4x2xui8>
}
