// RUN: xrelay-opt %s -p relay-simplify-rounding | filecheck %s

// The sums of integers times a scale are finite, so they are never NaN. The distances of bytes from their zero point are
// whole numbers, which the product reads as floats.
// CHECK-LABEL: func.func @layer
// CHECK:         %[[R:.*]] = relay.round(
// CHECK-NEXT:    %[[Y:.*]] = relay.clip(%[[R]]) {a_min = -137.0, a_max = 118.0}
// CHECK-NEXT:    func.return %[[Y]]
func.func @layer(%p: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %s = relay.constant dense<[0.5, 0.25, 2.0, 1.0]> : tensor<4xf32>
  %t = relay.constant dense<0.5> : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %z = relay.constant dense<137.0> : tensor<f32>
  %k = relay.constant dense<137> : tensor<i32>
  %f = relay.cast(%p) {dtype = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  %m = relay.multiply(%f, %s) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %b = relay.nn.bias_add(%m, %s) {axis = 1} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %d = relay.divide(%b, %t) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %r = relay.round(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %i = relay.isnan(%r) : (tensor<2x4xf32>) -> tensor<2x4xi1>
  %w = relay.where(%i, %zero, %r) : (tensor<2x4xi1>, tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = relay.add(%w, %z) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %c = relay.clip(%a) {a_min = 0.0, a_max = 255.0} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %q = relay.cast(%c) {dtype = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %i32 = relay.cast(%q) {dtype = i32} : (tensor<2x4xui8>) -> tensor<2x4xi32>
  %e = relay.subtract(%i32, %k) : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %y = relay.cast(%e) {dtype = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// A parameter may be NaN. The rounded numbers stay floats nevertheless.
// CHECK-LABEL: func.func @unknown
// CHECK:         relay.isnan
// CHECK:         %[[W:.*]] = relay.where
// CHECK:         relay.clip(%[[W]]) {a_min = -3.0, a_max = 252.0}
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %z = relay.constant dense<3.0> : tensor<f32>
  %k = relay.constant dense<3> : tensor<i32>
  %r = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %i = relay.isnan(%r) : (tensor<4xf32>) -> tensor<4xi1>
  %w = relay.where(%i, %zero, %r) : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add(%w, %z) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.clip(%a) {a_min = 0.0, a_max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.cast(%c) {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  %i32 = relay.cast(%q) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %e = relay.subtract(%i32, %k) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %y = relay.cast(%e) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
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

// Bytes with another use are computed; another zero point, and numbers that are not whole, are not those of the bytes.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: relay.subtract
func.func @others(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xui8>, tensor<4xf32>, tensor<4xf32>) {
  %z = relay.constant dense<3.0> : tensor<f32>
  %k = relay.constant dense<3> : tensor<i32>
  %l = relay.constant dense<4> : tensor<i32>
  %r = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add(%r, %z) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.clip(%a) {a_min = 0.0, a_max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.cast(%c) {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  %i = relay.cast(%q) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %d = relay.subtract(%i, %k) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %y = relay.cast(%d) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %q2 = relay.cast(%c) {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  %i2 = relay.cast(%q2) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %d2 = relay.subtract(%i2, %l) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %y2 = relay.cast(%d2) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %a3 = relay.add(%x, %z) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c3 = relay.clip(%a3) {a_min = 0.0, a_max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %q3 = relay.cast(%c3) {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  %i3 = relay.cast(%q3) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %d3 = relay.subtract(%i3, %k) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %y3 = relay.cast(%d3) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  func.return %y, %q, %y2, %y3 : tensor<4xf32>, tensor<4xui8>, tensor<4xf32>, tensor<4xf32>
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
