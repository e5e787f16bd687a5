// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @tuple(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.tuple C0]}}
  %r = relay.tuple(%x) : (tensor<4xf32>) -> tuple<tensor<5xf32>>
  func.return
}

// -----

func.func @get_item_of_tensor(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.tuple_get_item C1] the operand must be a tuple, found tensor<4xf32>}}
  %r = relay.tuple_get_item(%x) {index = 0} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @get_item(%t: tuple<tensor<4xf32>>) {
  // expected-error@below {{[relay.tuple_get_item C2] field 1 of a tuple of 1}}
  %r = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>>) -> !relay.incomplete
  func.return
}
