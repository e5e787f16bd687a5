// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @stop_fusion(
func.func @stop_fusion(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.annotation.stop_fusion(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %r = relay.annotation.stop_fusion(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}
