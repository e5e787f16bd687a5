// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @misspelt(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{relay.nn.conv2d has no attribute 'stride'; help: did you mean 'strides'?}}
  %r = relay.nn.conv2d(%x, %w) {stride = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error@below {{relay.nn.softmax has no attribute 'dtype'; help: it has axis}}
  %r = relay.nn.softmax(%x) {dtype = f32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @wrong_kind(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{relay.nn.conv2d: attribute 'strides' has a value of the wrong kind: 2 : i64}}
  %r = relay.nn.conv2d(%x, %w) {strides = 2} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @missing(%x: tensor<4xf32>) {
  // expected-error@below {{property 'newshape' expected}}
  %r = relay.reshape(%x) : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @foreign_attributes_carry_a_prefix(%x: tensor<4xf32>) {
  %r = relay.exp(%x) {mytool.note = 1} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @two_results(%x: tensor<4xf32>) {
  // expected-error@below {{expected a type with one result}}
  %r = relay.exp(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return
}

// -----

func.func @some_types(%x: tensor<4xf32>) {
  // expected-error@below {{expected a type for every number of a list or for no number, found 1 without type}}
  %r = relay.exp(%x) {mytool.note = [1, 2 : i32]} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @twice(%x: tensor<4xf32>) {
  // expected-error@below {{the attribute mytool.note occurs twice}}
  %r = relay.exp(%x) {mytool.note = 1, "mytool.note" = 2} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @no_prefix(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.exp C0] relay.exp has no attribute 'note'; help: it has none}}
  %r = "relay.exp"(%x) {note = 1} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
