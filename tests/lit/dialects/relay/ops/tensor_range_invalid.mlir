// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

func.func @vector(%x: tensor<i64>, %v: tensor<1xi64>) -> !relay.incomplete {
  // expected-error@below {{[relay.arange C2] three numbers are expected, found tensor<i64>, tensor<1xi64>, tensor<i64>}}
  %r = relay.arange(%x, %v, %x) : (tensor<i64>, tensor<1xi64>, tensor<i64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

func.func @nowhere(%x: tensor<i64>) -> !relay.incomplete {
  %a = relay.constant dense<0> : tensor<i64>
  %b = relay.constant dense<5> : tensor<i64>
  // expected-error@below {{[relay.arange C3] the step is 0}}
  %r = relay.arange(%a, %b, %a) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
