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

// -----

func.func @main(%x: tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> {
  // expected-error@+1 {{relay-outline-fused: relay.call @f has no native form, as its extents are not known}}
  %a = relay.call @f<n = m>(%x) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
  func.return %a : tensor<?xf32, #relay.dims<m>>
}

func.func private @f(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
