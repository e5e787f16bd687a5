// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-outline-fused

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{relay.fn of a closure that calls itself has no native form}}
  %r = relay.fn rec(%self)(%a : tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.invoke %self(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %y = relay.invoke %r(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
