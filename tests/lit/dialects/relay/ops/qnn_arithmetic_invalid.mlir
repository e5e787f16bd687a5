// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @shapes_add(%a0: tensor<4xi8>, %a1: tensor<3xi8>, %a2: tensor<f32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  // expected-error@below {{[relay.qnn.add C8] shapes (4) and (3) do not broadcast}}
  %r = relay.qnn.add(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4xi8>, tensor<3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @shapes_subtract(%a0: tensor<4xi8>, %a1: tensor<3xi8>, %a2: tensor<f32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  // expected-error@below {{[relay.qnn.subtract C8] shapes (4) and (3) do not broadcast}}
  %r = relay.qnn.subtract(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4xi8>, tensor<3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @shapes_mul(%a0: tensor<4xi8>, %a1: tensor<3xi8>, %a2: tensor<f32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<i32>, %a6: tensor<f32>, %a7: tensor<i32>) {
  // expected-error@below {{[relay.qnn.mul C8] shapes (4) and (3) do not broadcast}}
  %r = relay.qnn.mul(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4xi8>, tensor<3xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_tuple(%a0: tensor<2x3xi8>, %a1: tuple<tensor<f32>>, %a2: tuple<tensor<i32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C1] the operand must be a tuple of tensors}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 1} : (tensor<2x3xi8>, tuple<tensor<f32>>, tuple<tensor<i32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @axis(%a0: tuple<tensor<2x3xi8>, tensor<2x5xi8>>, %a1: tuple<tensor<f32>, tensor<f32>>, %a2: tuple<tensor<i32>, tensor<i32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C2] axis 2 is out of range for rank 2}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 2} : (tuple<tensor<2x3xi8>, tensor<2x5xi8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @extents(%a0: tuple<tensor<2x3xi8>, tensor<2x5xi8>>, %a1: tuple<tensor<f32>, tensor<f32>>, %a2: tuple<tensor<i32>, tensor<i32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C3] field 1 has extent 5 along axis 1, field 0 3}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 0} : (tuple<tensor<2x3xi8>, tensor<2x5xi8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @fields(%a0: tuple<tensor<2x3xi8>, tensor<2x5xui8>>, %a1: tuple<tensor<f32>, tensor<f32>>, %a2: tuple<tensor<i32>, tensor<i32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C4] element types i8 of field 0 and ui8 of field 1}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 1} : (tuple<tensor<2x3xi8>, tensor<2x5xui8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @floats(%a0: tuple<tensor<2xf32>>, %a1: tuple<tensor<f32>>, %a2: tuple<tensor<i32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C5] the element type must be quantised, found f32}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) : (tuple<tensor<2xf32>>, tuple<tensor<f32>>, tuple<tensor<i32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @count(%a0: tuple<tensor<2x3xi8>, tensor<2x5xi8>>, %a1: tuple<tensor<f32>>, %a2: tuple<tensor<i32>, tensor<i32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C6] operand #1 must be a tuple of 2 tensors}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 1} : (tuple<tensor<2x3xi8>, tensor<2x5xi8>>, tuple<tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @zero_points(%a0: tuple<tensor<2x3xi8>, tensor<2x5xi8>>, %a1: tuple<tensor<f32>, tensor<f32>>, %a2: tuple<tensor<i32>, tensor<f32>>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C6] one number of i32 is expected, found tensor<f32>}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 1} : (tuple<tensor<2x3xi8>, tensor<2x5xi8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<f32>>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @output(%a0: tuple<tensor<2x3xi8>, tensor<2x5xi8>>, %a1: tuple<tensor<f32>, tensor<f32>>, %a2: tuple<tensor<i32>, tensor<i32>>, %a3: tensor<2xf32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.concatenate C7] one number of f32 is expected, found tensor<2xf32>}}
  %r = relay.qnn.concatenate(%a0, %a1, %a2, %a3, %a4) {axis = 1} : (tuple<tensor<2x3xi8>, tensor<2x5xi8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}
