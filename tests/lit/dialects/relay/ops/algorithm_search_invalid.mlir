// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rows(%s: tensor<3x9xf32>, %v: tensor<4x3xf32>) {
  // expected-error@below {{[relay.searchsorted C3]}}
  %i = relay.searchsorted(%s, %v) : (tensor<3x9xf32>, tensor<4x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dtype(%s: tensor<9xf32>, %v: tensor<4xf32>) {
  // expected-error@below {{[relay.searchsorted C4]}}
  %i = relay.searchsorted(%s, %v) {dtype = f32} : (tensor<9xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}
