// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @construct(%x: tuple<tensor<4xf32>>) {
  // expected-error@below {{[relay.closure_construct C1]}}
  %f = relay.closure_construct(%x) {number = 0} : (tuple<tensor<4xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @construct_number(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.closure_construct C2]}}
  %f = relay.closure_construct(%x) {number = -1} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @number(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.closure_number C1] the operand must be a closure, found tensor<4xf32>}}
  %n = relay.closure_number(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @captured(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.closure_captured C1] the operand must be a closure, found tensor<4xf32>}}
  %y = relay.closure_captured(%x) {index = 0, of = tensor<4xf32>} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @captured_index(%f: !relay.closure) {
  // expected-error@below {{[relay.closure_captured C2]}}
  %y = relay.closure_captured(%f) {index = -1, of = tensor<4xf32>} : (!relay.closure) -> !relay.incomplete
  func.return
}

// -----

func.func @captured_type(%f: !relay.closure) {
  // expected-error@below {{[relay.closure_captured C3] a closure cannot contain f32}}
  %y = relay.closure_captured(%f) {index = 0, of = f32} : (!relay.closure) -> !relay.incomplete
  func.return
}
