// RUN: xrelay-opt %s -p relay-keep-floats | filecheck %s

// The distances of bytes from their zero point are whole numbers, which the product reads as floats.
// CHECK-LABEL: func.func @distances
// CHECK:         %[[W:.*]] = relay.where
// CHECK-NEXT:    %[[Y:.*]] = relay.clip(%[[W]]) {a_min = -3.0, a_max = 252.0}
// CHECK-NEXT:    func.return %[[Y]]
func.func @distances(%x: tensor<4xf32>) -> tensor<4xf32> {
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

// Nothing adds a zero point of 0.
// CHECK-LABEL: func.func @zero
// CHECK:         %[[R:.*]] = relay.round
// CHECK-NEXT:    %[[Y:.*]] = relay.clip(%[[R]]) {a_min = 0.0, a_max = 255.0}
// CHECK-NEXT:    func.return %[[Y]]
func.func @zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = relay.constant dense<0> : tensor<i32>
  %r = relay.round(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.clip(%r) {a_min = 0.0, a_max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %q = relay.cast(%c) {dtype = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  %i = relay.cast(%q) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %d = relay.subtract(%i, %k) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %y = relay.cast(%d) {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
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
