// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @operands(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.fused C1] 0 operands for 1 parameters}}
  %r = "relay.fused"() <{group_name = "g"}> ({
  ^bb0(%p: tensor<4xf32>):
    relay.yield %p : tensor<4xf32>
  }) : () -> tensor<4xf32>
  func.return
}

// -----

func.func @no_yield(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.fused C2] a region must end in relay.yield}}
  %r = relay.fused @g(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{'func.return' expects parent op}}
    func.return
  }
  func.return
}

// -----

func.func @result(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.fused C3] a region yields tensor<4xf32>, the result is tensor<5xf32>}}
  %r = relay.fused @g(%p = %x : tensor<4xf32>) -> tensor<5xf32> {
    relay.yield %p : tensor<4xf32>
  }
  func.return
}

// -----

func.func @parameter(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.fused C4] operand #0 is tensor<4xf32>, its parameter tensor<5xf32>}}
  %r = "relay.fused"(%x) <{group_name = "g"}> ({
  ^bb0(%p: tensor<5xf32>):
    relay.yield %p : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @pattern(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.fused C5]}}
  %r = relay.fused @g(%p = %x : tensor<4xf32>) -> tensor<4xf32> attributes {pattern = "kFast"} {
    relay.yield %p : tensor<4xf32>
  }
  func.return
}
