// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @equal(
func.func @equal(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %r = relay.equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}

// CHECK-LABEL: @not_equal(
func.func @not_equal(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.not_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %r = relay.not_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}

// CHECK-LABEL: @less(
func.func @less(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.less(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %r = relay.less(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}

// CHECK-LABEL: @less_equal(
func.func @less_equal(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.less_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %r = relay.less_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}

// CHECK-LABEL: @greater(
func.func @greater(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.greater(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %r = relay.greater(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}

// CHECK-LABEL: @greater_equal(
func.func @greater_equal(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.greater_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %r = relay.greater_equal(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}
