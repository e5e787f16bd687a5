// RUN: xrelay-opt %s -p relay-infer-type,relay-fuse-ops | filecheck %s

// A fused kernel would divide by `h` and `w`. Alone, the reshape shares the memory of the input.
// CHECK-LABEL: func.func @shuffle
// CHECK:      relay.fused @fused_reshape(%{{.*}} = %x : {{.*}} attributes {pattern = "kOpaque", relay.reshape_only}
// CHECK:      relay.fused @fused_transpose_reshape(
func.func @shuffle(%x: tensor<?x4x?x?xf32, #relay.dims<n, h, w>>) -> tensor<1x4x6x5xf32> {
  %a = relay.reshape(%x) {newshape = [1, 2, 2, 6, 5]} : (tensor<?x4x?x?xf32, #relay.dims<n, h, w>>) -> tensor<1x2x2x6x5xf32>
  %b = relay.transpose(%a) {axes = [0, 2, 1, 3, 4]} : (tensor<1x2x2x6x5xf32>) -> tensor<1x2x2x6x5xf32>
  %y = relay.reshape(%b) {newshape = [1, 4, 6, 5]} : (tensor<1x2x2x6x5xf32>) -> tensor<1x4x6x5xf32>
  func.return %y : tensor<1x4x6x5xf32>
}

// So does the reshape after the transposition, whose kernel writes the result.
// CHECK-LABEL: func.func @tokens
// CHECK:      relay.fused @fused_transpose(
// CHECK:      relay.fused @fused_reshape{{.*}} attributes {pattern = "kOpaque", relay.reshape_only}
func.func @tokens(%x: tensor<?x8x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete {
  %a = relay.transpose(%x) {axes = [0, 2, 3, 1]} : (tensor<?x8x?x?xf32, #relay.dims<n, h, w>>) -> !relay.incomplete
  %y = relay.reshape(%a) {newshape = [0, -1, 8]} : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// Quotients by numbers do not separate kernels.
// CHECK-LABEL: func.func @heads
// CHECK:     relay.fused @fused_reshape_transpose_reshape(
// CHECK-NOT: relay.fused
// CHECK:     func.return
func.func @heads(%x: tensor<?x24xf32, #relay.dims<n>>) -> !relay.incomplete {
  %a = relay.reshape(%x) {newshape = [0, 6, 4]} : (tensor<?x24xf32, #relay.dims<n>>) -> !relay.incomplete
  %b = relay.transpose(%a) {axes = [1, 0, 2]} : (!relay.incomplete) -> !relay.incomplete
  %y = relay.reshape(%b) {newshape = [-4, 2, 3, -2]} : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
