// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @relu_result(%x: tensor<2x8xf32>) {
  // expected-error@below {{[relay.nn.relu C0] result type}}
  %r = relay.nn.relu(%x) : (tensor<2x8xf32>) -> tensor<2x9xf32>
  func.return
}

// -----

func.func @dropout_rate(%x: tensor<2x8xf32>) {
  // expected-error@below {{[relay.nn.dropout C1] rate must be at least 0 and less than 1, found 1.0}}
  %r = relay.nn.dropout(%x) {rate = 1.0} : (tensor<2x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dropout_elements(%x: tensor<2x8xi32>) {
  // expected-error@below {{[relay.nn.dropout C2] the element type must be a float, found i32}}
  %r = relay.nn.dropout(%x) : (tensor<2x8xi32>) -> !relay.incomplete
  func.return
}
