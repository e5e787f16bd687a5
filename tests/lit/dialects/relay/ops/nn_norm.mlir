// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @defaults(
func.func @defaults(%x: tensor<1x8x4x4xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) {
  // CHECK: %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>>
  %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>>
  func.return
}

// CHECK-LABEL: @all_attributes(
func.func @all_attributes(%x: tensor<1x4x4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) {
  // CHECK: %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) {axis = 3, epsilon = 0.001, center = false, scale = false} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>>
  %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) {axis = 3, epsilon = 0.001, center = false, scale = false} : (tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<1x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>>
  func.return
}
