// RUN: xrelay-opt %s -p relay-first-order-gradient --split-input-file --verify-diagnostics

func.func @no_rule(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{bitwise_not cannot be differentiated: there is no rule for it}}
  %r = relay.bitwise_not(%x) : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// -----

func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{func.call cannot be differentiated: only calls that relay-inline can inline are}}
  %r = func.call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @loop(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  // expected-error@+1 {{relay.loop cannot be differentiated: there is no rule for it}}
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %t = relay.add(%s, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%t) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %g = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return %g : tensor<4xf32>
}

// -----

// expected-error@+1 {{a parameter or result has type !relay.sequence<tensor<4xf32>>, which has no gradient}}
func.func @sequence(%x: tensor<4xf32>, %s: !relay.sequence<tensor<4xf32>>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{the type of relay.add is not known; help: run relay-infer-type first}}
func.func @types(%x: tensor<4xf32>) -> !relay.incomplete {
  %r = relay.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
