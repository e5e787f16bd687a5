// RUN: xrelay-opt %s --verify-diagnostics --split-input-file

func.func @no_tuple(%x: tensor<2x3xf32>) {
  // expected-error@below {{[relay.einsum C1] the operand must be a tuple of tensors}}
  %y = relay.einsum(%x) {equation = "ij->ji"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @label_of_none(%t: tuple<tensor<2x3xf32>>) {
  // expected-error@below {{[relay.einsum C2]}}
  %y = relay.einsum(%t) {equation = "ij->k"} : (tuple<tensor<2x3xf32>>) -> tensor<2xf32>
  func.return
}

// -----

func.func @element_types(%t: tuple<tensor<2x3xf32>, tensor<3xi32>>) {
  // expected-error@below {{[relay.einsum C3] the tensors must have one element type, of numbers, found f32, i32}}
  %y = relay.einsum(%t) {equation = "ij,j->i"} : (tuple<tensor<2x3xf32>, tensor<3xi32>>) -> tensor<2xf32>
  func.return
}

// -----

func.func @extents(%t: tuple<tensor<2x3xf32>, tensor<4xf32>>) {
  // expected-error@below {{[relay.einsum C4] extents of label 'j'}}
  %y = relay.einsum(%t) {equation = "ij,j->i"} : (tuple<tensor<2x3xf32>, tensor<4xf32>>) -> tensor<2xf32>
  func.return
}
