// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @where(
func.func @where(%c: tensor<4x8xi1>, %x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.where(%c, %x, %y) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.where(%c, %x, %y) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}
