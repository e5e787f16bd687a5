// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @sum(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.sum C1] axis 3 is out of range for rank 3}}
  %r = relay.sum(%x) {axis = [3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @mean(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.mean C1] axis 3 is out of range for rank 3}}
  %r = relay.mean(%x) {axis = [3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @max(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.max C1] axis 3 is out of range for rank 3}}
  %r = relay.max(%x) {axis = [3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @min(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.min C1] axis 3 is out of range for rank 3}}
  %r = relay.min(%x) {axis = [3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @prod(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.prod C1] axis 3 is out of range for rank 3}}
  %r = relay.prod(%x) {axis = [3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @twice(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.sum C1] axes [0, -3] name an axis twice}}
  %r = relay.sum(%x) {axis = [0, -3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}
