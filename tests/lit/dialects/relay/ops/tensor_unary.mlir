// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @tanh(
func.func @tanh(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.tanh(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.tanh(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @sqrt(
func.func @sqrt(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.sqrt(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.sqrt(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @rsqrt(
func.func @rsqrt(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.rsqrt(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.rsqrt(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @log(
func.func @log(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.log(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.log(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @erf(
func.func @erf(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.erf(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.erf(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @negative(
func.func @negative(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.negative(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.negative(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @abs(
func.func @abs(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.abs(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.abs(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @clip(
func.func @clip(%x: tensor<4xf32>) {
  // CHECK: %r = relay.clip(%x) {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.clip(%x) {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
