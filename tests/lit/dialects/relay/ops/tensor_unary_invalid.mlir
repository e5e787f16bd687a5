// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @negative(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.negative C0]}}
  %r = relay.negative(%x) : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @abs(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.abs C0]}}
  %r = relay.abs(%x) : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @clip(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.clip C1] a_min 1.0 is greater than a_max 0.0}}
  %r = relay.clip(%x) {a_min = 1.0, a_max = 0.0} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}
