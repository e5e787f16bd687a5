// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @entropy(%p: tensor<4x10xf32>, %t: tensor<4x9xf32>) {
  // expected-error@below {{[relay.nn.cross_entropy C4] targets of shape (4, 9) for predictions of shape (4, 10)}}
  %y = relay.nn.cross_entropy(%p, %t) : (tensor<4x10xf32>, tensor<4x9xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @logits(%p: tensor<4x10xf32>, %t: tensor<4xf32>) {
  // expected-error@below {{[relay.nn.cross_entropy_with_logits C4] targets of shape (4) for predictions of shape (4, 10)}}
  %y = relay.nn.cross_entropy_with_logits(%p, %t) : (tensor<4x10xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @targets(%p: tensor<2x3x4xf32>, %t: tensor<2x5xi32>, %w: tensor<3xf32>) {
  // expected-error@below {{[relay.nn.nll_loss C4] predictions of shape (2, 3, 4) for targets of shape (2, 5)}}
  %y = relay.nn.nll_loss(%p, %t, %w) : (tensor<2x3x4xf32>, tensor<2x5xi32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @weights(%p: tensor<2x3x4xf32>, %t: tensor<2x4xi32>, %w: tensor<2xf32>) {
  // expected-error@below {{[relay.nn.nll_loss C5] weights and classes 2 != 3}}
  %y = relay.nn.nll_loss(%p, %t, %w) : (tensor<2x3x4xf32>, tensor<2x4xi32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}
