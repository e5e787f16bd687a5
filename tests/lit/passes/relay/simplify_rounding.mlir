// RUN: xrelay-opt %s -p relay-simplify-rounding | filecheck %s

// The sums of integers times a scale are finite, so they are never NaN.
// CHECK-LABEL: func.func @layer
// CHECK:         %[[R:.*]] = relay.round(
// CHECK-NEXT:    func.return %[[R]]
func.func @layer(%p: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %s = relay.constant dense<[0.5, 0.25, 2.0, 1.0]> : tensor<4xf32>
  %t = relay.constant dense<0.5> : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %f = relay.cast(%p) {dtype = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  %m = relay.multiply(%f, %s) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %b = relay.nn.bias_add(%m, %s) {axis = 1} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d = relay.divide(%b, %t) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %r = relay.round(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %i = relay.isnan(%r) : (tensor<2x4xf32>) -> tensor<2x4xi1>
  %w = relay.where(%i, %zero, %r) : (tensor<2x4xi1>, tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %w : tensor<2x4xf32>
}

// A parameter may be NaN.
// CHECK-LABEL: func.func @unknown
// CHECK:         relay.isnan
// CHECK:         relay.where
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %r = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %i = relay.isnan(%r) : (tensor<4xf32>) -> tensor<4xi1>
  %w = relay.where(%i, %zero, %r) : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// A zero point of 0 is not added to numbers that become integers.
// CHECK-LABEL: func.func @zero
// CHECK:         %[[R:.*]] = relay.round
// CHECK-NEXT:    %[[C:.*]] = relay.clip(%[[R]])
// CHECK-NEXT:    relay.cast(%[[C]])
func.func @zero(%x: tensor<4xf32>) -> tensor<4xui8> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %r = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add(%r, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.clip(%a) {a_min = 0.0, a_max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.cast(%c) {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  func.return %q : tensor<4xui8>
}

// Products of large numbers may be infinite, and their difference NaN.
// CHECK-LABEL: func.func @large
// CHECK:         relay.where
func.func @large(%p: tensor<4xi32>) -> tensor<4xf32> {
  %s = relay.constant dense<1.0e25> : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %f = relay.cast(%p) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %m = relay.multiply(%f, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %i = relay.isnan(%m) : (tensor<4xf32>) -> tensor<4xi1>
  %w = relay.where(%i, %zero, %m) : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// Sums of products of integers and a constant weight are finite. A weight that is a parameter may be infinite.
// CHECK-LABEL: func.func @products
// CHECK:         %[[C:.*]] = relay.nn.conv2d
// CHECK-NOT:     relay.where
// CHECK:         relay.nn.dense(%[[C]]
// CHECK:         relay.where
func.func @products(%p: tensor<1x2x1x1xui8>, %v: tensor<3x1xf32>) -> tensor<1x2x1x3xf32> {
  %k = relay.constant dense<0.5> : tensor<2x1x1x1xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %f = relay.cast(%p) {dtype = f32} : (tensor<1x2x1x1xui8>) -> tensor<1x2x1x1xf32>
  %c = relay.nn.conv2d(%f, %k) {groups = 2} : (tensor<1x2x1x1xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x1x1xf32>
  %i = relay.isnan(%c) : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xi1>
  %w = relay.where(%i, %zero, %c) : (tensor<1x2x1x1xi1>, tensor<f32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %d = relay.nn.dense(%w, %v) : (tensor<1x2x1x1xf32>, tensor<3x1xf32>) -> tensor<1x2x1x3xf32>
  %j = relay.isnan(%d) : (tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xi1>
  %y = relay.where(%j, %zero, %d) : (tensor<1x2x1x3xi1>, tensor<f32>, tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  func.return %y : tensor<1x2x1x3xf32>
}
