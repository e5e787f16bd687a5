// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @condition(%c: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.where C1] the element type must be i1, found f32}}
  %r = relay.where(%c, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @elements(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.where C3] element types f32 != i32}}
  %r = relay.where(%c, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @shapes(%c: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.where C2] shapes (3), (4) and (4) do not broadcast}}
  %r = relay.where(%c, %x, %x) : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}
