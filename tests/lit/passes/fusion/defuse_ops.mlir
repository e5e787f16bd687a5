// RUN: xrelay-opt %s -p relay-defuse-ops | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%x)
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%[[R]])
// CHECK-NEXT:    func.return %[[E]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.fused @fused_nn_relu_exp(%p0 = %x : tensor<4xf32>) -> tensor<4xf32> attributes {pattern = "kElemWise"} {
    %r = relay.nn.relu(%p0) : (tensor<4xf32>) -> tensor<4xf32>
    %e = relay.exp(%r) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @nothing_fused
// CHECK-NEXT:    relay.nn.relu(%x)
func.func @nothing_fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A group that yields its parameter is replaced by its operand.
// CHECK-LABEL: func.func @identity
// CHECK-NEXT:    func.return %x
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.fused @nothing(%p0 = %x : tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %p0 : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// Uninferred types would change: the user of %y does not accept tensor<4xf32>.
// CHECK-LABEL: func.func private @not_inferred
// CHECK-NEXT:    relay.fused @half_typed
func.func private @not_inferred(%x: !relay.incomplete) -> !relay.incomplete {
  %y = relay.fused @half_typed(%p0 = %x : !relay.incomplete) -> !relay.incomplete {
    %r = relay.exp(%p0) : (!relay.incomplete) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  func.return %y : !relay.incomplete
}
