// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @defaults(
func.func @defaults(%x: tensor<1x8x4x4xf32>) {
  // CHECK: %r = relay.nn.lrn(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.lrn(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// CHECK-LABEL: @all_attributes(
func.func @all_attributes(%x: tensor<?x4x4x8xf16>) {
  // CHECK: %r = relay.nn.lrn(%x) {size = 3, axis = -1, bias = 1.0, alpha = 0.0001, beta = 0.5} : (tensor<?x4x4x8xf16>) -> tensor<?x4x4x8xf16>
  %r = relay.nn.lrn(%x) {size = 3, axis = -1, bias = 1.0, alpha = 1.0e-4, beta = 0.5} : (tensor<?x4x4x8xf16>) -> tensor<?x4x4x8xf16>
  func.return
}
