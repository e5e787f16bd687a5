// RUN: xrelay-opt %s -p relay-legalize | filecheck %s
// RUN: xrelay-opt %s -p 'relay-legalize{legalize-map-attr-name=AcmeLegalize}' | filecheck %s
// RUN: xrelay-opt %s -p 'Legalize' | filecheck %s

// Hooks come from Python (tests/unit/passes/test_legalize.py); without hooks, nothing changes.
// CHECK-LABEL: @leaves_alone(
// CHECK-NEXT:    %[[C:.*]] = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : {{.*}} -> tensor<1x4x8x8xf32>
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[C]])
// CHECK-NEXT:    func.return %[[R]]
func.func @leaves_alone(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %c = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = relay.nn.relu(%c) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %r : tensor<1x4x8x8xf32>
}
