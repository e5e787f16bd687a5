// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @concatenate_tensor(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.concatenate C1] the operand must be a tuple of tensors, found tensor<4xf32>}}
  %r = relay.concatenate(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @concatenate_nothing(%t: tuple<>) {
  // expected-error@below {{[relay.concatenate C1] the operand must be a tuple of tensors, found tuple<>}}
  %r = relay.concatenate(%t) : (tuple<>) -> !relay.incomplete
  func.return
}

// -----

func.func @concatenate_axis(%t: tuple<tensor<4xf32>, tensor<4xf32>>) {
  // expected-error@below {{[relay.concatenate C2] axis 1 is out of range for rank 1}}
  %r = relay.concatenate(%t) {axis = 1} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @concatenate_rank(%t: tuple<tensor<4xf32>, tensor<4x1xf32>>) {
  // expected-error@below {{[relay.concatenate C3] field 1 has rank 2, field 0 1}}
  %r = relay.concatenate(%t) : (tuple<tensor<4xf32>, tensor<4x1xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @concatenate_extent(%t: tuple<tensor<4x2xf32>, tensor<4x3xf32>>) {
  // expected-error@below {{[relay.concatenate C3] field 1 has extent 3 along axis 1, field 0 2}}
  %r = relay.concatenate(%t) : (tuple<tensor<4x2xf32>, tensor<4x3xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @concatenate_elements(%t: tuple<tensor<4xf32>, tensor<4xi32>>) {
  // expected-error@below {{[relay.concatenate C4] element types f32 of field 0 and i32 of field 1}}
  %r = relay.concatenate(%t) : (tuple<tensor<4xf32>, tensor<4xi32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @split_into_many(%x: tensor<0xf32>) {
  // expected-error@below {{[relay.split C4]}}
  %r = relay.split(%x) {indices_or_sections = 4611686018427387904 : i64} : (tensor<0xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @split_indices(%x: tensor<6xf32>) {
  // expected-error@below {{[relay.split C3] indices [4, 2] do not ascend from 0 to 6}}
  %r = relay.split(%x) {indices_or_sections = [4, 2]} : (tensor<6xf32>) -> !relay.incomplete
  func.return
}
