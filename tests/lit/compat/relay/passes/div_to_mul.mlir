// RUN: xrelay-opt %s -p relay-div-to-mul | filecheck %s

// CHECK-LABEL: @number(
// CHECK:         %[[R:.*]] = relay.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT:    relay.multiply(%x, %[[R]]) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NOT:     relay.divide
func.func @number(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = relay.constant dense<4.0> : tensor<f32>
  %y = relay.divide(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: @each(
// CHECK:         %[[R:.*]] = relay.constant dense<[5.000000e-01, -2.500000e-01]> : tensor<2xf16>
// CHECK-NEXT:    relay.multiply(%x, %[[R]]) : (tensor<3x2xf16>, tensor<2xf16>) -> tensor<3x2xf16>
func.func @each(%x: tensor<3x2xf16>) -> tensor<3x2xf16> {
  %c = relay.constant dense<[2.0, -4.0]> : tensor<2xf16>
  %y = relay.divide(%x, %c) : (tensor<3x2xf16>, tensor<2xf16>) -> tensor<3x2xf16>
  func.return %y : tensor<3x2xf16>
}

// CHECK-LABEL: @bfloat16(
// CHECK:         %[[R:.*]] = relay.constant dense<1.250000e-01> : tensor<bf16>
// CHECK-NEXT:    relay.multiply(%x, %[[R]])
func.func @bfloat16(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %c = relay.constant dense<8.0> : tensor<bf16>
  %y = relay.divide(%x, %c) : (tensor<2xbf16>, tensor<bf16>) -> tensor<2xbf16>
  func.return %y : tensor<2xbf16>
}

// CHECK-LABEL: @not_a_constant(
// CHECK:         relay.divide(%x, %c)
func.func @not_a_constant(%x: tensor<2xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.divide(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: @a_zero_among_them(
// CHECK:         relay.divide(%x, %c)
func.func @a_zero_among_them(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = relay.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %y = relay.divide(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: @no_normal_reciprocal(
// CHECK:         relay.divide(%x, %c)
func.func @no_normal_reciprocal(%x: tensor<2xf16>) -> tensor<2xf16> {
  %c = relay.constant dense<[2.0, 32768.0]> : tensor<2xf16>
  %y = relay.divide(%x, %c) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  func.return %y : tensor<2xf16>
}

// CHECK-LABEL: @integers(
// CHECK:         relay.divide(%x, %c)
func.func @integers(%x: tensor<2xi32>) -> tensor<2xi32> {
  %c = relay.constant dense<[2, 4]> : tensor<2xi32>
  %y = relay.divide(%x, %c) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %y : tensor<2xi32>
}
