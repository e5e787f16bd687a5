// RUN: xrelay-opt %s -p relay-simplify-expr | filecheck %s

// 64-bit integers have more digits than an f64; 32-bit integers do not.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    %[[A:.*]] = relay.cast(%x) {dtype = f64}
// CHECK-NEXT:    %[[B:.*]] = relay.cast(%[[A]]) {dtype = i64}
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%u) {dtype = f64}
// CHECK-NEXT:    %[[D:.*]] = relay.cast(%[[C]]) {dtype = ui64}
// CHECK-NEXT:    func.return %[[B]], %[[D]], %i
func.func @casts(%x: tensor<4xi64>, %u: tensor<4xui64>, %i: tensor<4xi32>) -> (tensor<4xi64>, tensor<4xui64>, tensor<4xi32>) {
  %a = relay.cast(%x) {dtype = f64} : (tensor<4xi64>) -> tensor<4xf64>
  %b = relay.cast(%a) {dtype = i64} : (tensor<4xf64>) -> tensor<4xi64>
  %c = relay.cast(%u) {dtype = f64} : (tensor<4xui64>) -> tensor<4xf64>
  %d = relay.cast(%c) {dtype = ui64} : (tensor<4xf64>) -> tensor<4xui64>
  %e = relay.cast(%i) {dtype = f64} : (tensor<4xi32>) -> tensor<4xf64>
  %f = relay.cast(%e) {dtype = i32} : (tensor<4xf64>) -> tensor<4xi32>
  func.return %b, %d, %f : tensor<4xi64>, tensor<4xui64>, tensor<4xi32>
}

// Both products would be infinite, though the first is greater.
// CHECK-LABEL: @infinite_scale(
// CHECK:         %[[A:.*]] = relay.qnn.dequantize(%x
// CHECK-NEXT:    relay.argmax(%[[A]])
func.func @infinite_scale(%x: tensor<4xi8>) -> tensor<i32> {
  %s = relay.constant dense<1.0e38> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %y = relay.argmax(%a) {axis = [0]} : (tensor<4xf32>) -> tensor<i32>
  func.return %y : tensor<i32>
}

// The product of the factors would be infinite, and has few digits.
// CHECK-LABEL: @joined(
// CHECK-COUNT-4: relay.multiply
// CHECK:         relay.constant dense<6.000000e+00>
// CHECK:         relay.multiply
// CHECK-NEXT:    func.return
func.func @joined(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %great = relay.constant dense<1.0e30> : tensor<f32>
  %small = relay.constant dense<1.0e-20> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %three = relay.constant dense<3.0> : tensor<f32>
  %a = relay.multiply(%x, %great) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = relay.multiply(%a, %great) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.multiply(%x, %small) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = relay.multiply(%c, %small) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %e = relay.multiply(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = relay.multiply(%e, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %b, %d, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
