// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @group(
func.func @group(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: %r = relay.fused @fused_add_relu(%p = %x : tensor<4xf32>, %q = %y : tensor<4xf32>) -> tensor<4xf32> attributes {anchor = "add", pattern = "kElemWise", note = 1} {
  %r = relay.fused @fused_add_relu(%p = %x : tensor<4xf32>, %q = %y : tensor<4xf32>) -> tensor<4xf32> attributes {anchor = "add", pattern = "kElemWise", note = 1} {
    // CHECK-NEXT: %s = relay.add(%p, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = relay.add(%p, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %t = relay.nn.relu(%s) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.nn.relu(%s) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: relay.yield %t : tensor<4xf32>
    relay.yield %t : tensor<4xf32>
  // CHECK-NEXT: }
  }
  func.return
}

// CHECK-LABEL: @plain(
func.func @plain() {
  // CHECK: %r = relay.fused @one() -> tensor<f32> {
  %r = relay.fused @one() -> tensor<f32> {
    // CHECK-NEXT: %s = relay.constant dense<1.000000e+00> : tensor<f32>
    %s = relay.constant dense<1.000000e+00> : tensor<f32>
    // CHECK-NEXT: relay.yield %s : tensor<f32>
    relay.yield %s : tensor<f32>
  // CHECK-NEXT: }
  }
  func.return
}
