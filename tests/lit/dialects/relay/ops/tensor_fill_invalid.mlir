// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_tuple(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.stack C1] the operand must be a tuple of tensors, found tensor<4xf32>}}
  %r = relay.stack(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @axis(%t: tuple<tensor<4xf32>, tensor<4xf32>>) {
  // expected-error@below {{[relay.stack C2] axis 2 is out of range for rank 2}}
  %r = relay.stack(%t) {axis = 2} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @fields(%t: tuple<tensor<4xf32>, tensor<5xf32>>) {
  // expected-error@below {{[relay.stack C3] field 1 is tensor<5xf32>, field 0 tensor<4xf32>}}
  %r = relay.stack(%t) : (tuple<tensor<4xf32>, tensor<5xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @zeros() {
  // expected-error@below {{[relay.zeros C2]}}
  %r = relay.zeros() {shape = [2], dtype = "float"} : () -> !relay.incomplete
  func.return
}

// -----

func.func @ones() {
  // expected-error@below {{[relay.ones C2]}}
  %r = relay.ones() {shape = [2], dtype = 1 : i32} : () -> !relay.incomplete
  func.return
}
