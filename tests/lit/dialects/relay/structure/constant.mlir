// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @scalar(
func.func @scalar() {
  // CHECK: %c = relay.constant dense<2.000000e+00> : tensor<f32>
  %c = relay.constant dense<2.000000e+00> : tensor<f32>
  func.return
}

// CHECK-LABEL: @vector(
func.func @vector() {
  // CHECK: %c = relay.constant dense<[1, 2, 3]> : tensor<3xi64>
  %c = relay.constant dense<[1, 2, 3]> : tensor<3xi64>
  func.return
}

// CHECK-LABEL: @truth(
func.func @truth() {
  // CHECK: %c = relay.constant dense<[true, false]> : tensor<2xi1>
  %c = relay.constant dense<[true, false]> : tensor<2xi1>
  func.return
}

// CHECK-LABEL: @weight(
func.func @weight() {
  // CHECK: %c = relay.constant #relay.weight<"conv1.w", "9f2c"> : tensor<64x3x7x7xf32>
  %c = relay.constant #relay.weight<"conv1.w", "9f2c"> : tensor<64x3x7x7xf32>
  func.return
}

// CHECK-LABEL: @attributes(
func.func @attributes() {
  // CHECK: %c = relay.constant {note = 1} #relay.weight<"w", "k"> : tensor<4xf32>
  %c = relay.constant {note = 1} #relay.weight<"w", "k"> : tensor<4xf32>
  func.return
}
