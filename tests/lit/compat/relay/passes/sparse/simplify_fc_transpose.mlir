// RUN: xrelay-opt %s -p 'relay-simplify-fc-transpose{target-weight-name="w","named"}' | filecheck %s
// RUN: xrelay-opt %s -p relay-simplify-fc-transpose | filecheck %s --check-prefix NONE

// NONE-NOT: .T

// The transposed parameter follows the others; both layers share it.
// CHECK-LABEL: func.func @twice(%x: tensor<1x32xf32>, %b: tensor<64xf32>, %w.T: tensor<64x32xf32> {relay.name = "w.T"})
func.func @twice(%x: tensor<1x32xf32>, %w: tensor<32x64xf32>, %b: tensor<64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-NOT: transpose
  %t = relay.transpose(%w) {axes = [1, 0]} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  // CHECK: %y = relay.nn.dense(%x, %w.T) {units = 64} : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>
  %y = relay.nn.dense(%x, %t) {units = 64} : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>
  %u = relay.transpose(%w) : (tensor<32x64xf32>) -> tensor<64x32xf32>
  // CHECK: %z = relay.nn.dense(%x, %w.T) :
  %z = relay.nn.dense(%x, %u) : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>
  func.return %y, %z : tensor<1x64xf32>, tensor<1x64xf32>
}

// A name known to users is kept; other uses of the old parameter keep it.
// CHECK-LABEL: func.func @used(%x: tensor<1x8xf32>, %p: tensor<8x8xf32> {relay.name = "named"}, %named.T: tensor<8x8xf32> {relay.name = "named.T"})
func.func @used(%x: tensor<1x8xf32>, %p: tensor<8x8xf32> {relay.name = "named"}) -> (tensor<1x8xf32>, tensor<8x8xf32>) {
  // CHECK: %t = relay.transpose(%p)
  %t = relay.transpose(%p) {axes = [1, 0]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: relay.nn.dense(%x, %named.T)
  %y = relay.nn.dense(%x, %t) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %y, %t : tensor<1x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @other_names(%x: tensor<1x8xf32>, %v: tensor<8x8xf32>)
func.func @other_names(%x: tensor<1x8xf32>, %v: tensor<8x8xf32>) -> tensor<1x8xf32> {
  // CHECK: relay.transpose
  %t = relay.transpose(%v) {axes = [1, 0]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = relay.nn.dense(%x, %t) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @not_transposed(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>)
func.func @not_transposed(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  // CHECK: relay.transpose
  %t = relay.transpose(%w) {axes = [0, 1]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = relay.nn.dense(%x, %t) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func.func private @callee(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>)
func.func private @callee(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  // CHECK: relay.transpose
  %t = relay.transpose(%w) {axes = [1, 0]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = relay.nn.dense(%x, %t) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

func.func @caller(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %y = func.call @callee(%x, %w) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}
