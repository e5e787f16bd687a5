// RUN: xrelay-opt %s -p relay-div-to-mul | filecheck %s
// RUN: xrelay-opt %s -p "relay-div-to-mul{continuous=true}" | filecheck %s --check-prefix=CONTINUOUS

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

// The floor of 49 * (1 / 49) is 0. A sum of products may be taken in any order, so that it ends the dependence.
// CONTINUOUS-LABEL: @floor_and_product(
// CONTINUOUS:         relay.divide(%x, %c)
// CONTINUOUS:         relay.multiply(%x, %{{.*}})
func.func @floor_and_product(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xi1>) {
  %c = relay.constant dense<49.0> : tensor<f32>
  %y = relay.divide(%x, %c) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %a = relay.abs(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %f = relay.floor(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = relay.constant dense<6.0> : tensor<f32>
  %z = relay.divide(%x, %d) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %p = relay.nn.dense(%z, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %l = relay.less(%p, %f) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  func.return %p, %l : tensor<2x2xf32>, tensor<2x2xi1>
}

// A loop carries the quotient to the next iteration, where it is compared.
// CONTINUOUS-LABEL: @carried(
// CONTINUOUS:         relay.divide(%s, %d)
func.func @carried(%x: tensor<2xf32>, %c: tensor<i1>) -> tuple<tensor<i1>, tensor<2xf32>> {
  %d = relay.constant dense<49.0> : tensor<f32>
  %r = relay.loop(%i, %t = %c : tensor<i1>, %s = %x : tensor<2xf32>) while %c : tensor<i1> -> tuple<tensor<i1>, tensor<2xf32>> {
    %l = relay.less(%s, %d) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
    %a = relay.any(%l) : (tensor<2xi1>) -> tensor<i1>
    %q = relay.divide(%s, %d) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %y = relay.tuple(%a, %a, %q) : (tensor<i1>, tensor<i1>, tensor<2xf32>) -> tuple<tensor<i1>, tensor<i1>, tensor<2xf32>>
    relay.yield %y : tuple<tensor<i1>, tensor<i1>, tensor<2xf32>>
  }
  func.return %r : tuple<tensor<i1>, tensor<2xf32>>
}
