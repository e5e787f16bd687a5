// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @depth(%a0: tensor<2x4xi8>, %a1: tensor<3x5xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.dense C7] the depths of data and weight differ: 4 != 5}}
  %r = relay.qnn.dense(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x4xi8>, tensor<3x5xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @units(%a0: tensor<2x4xi8>, %a1: tensor<3x4xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.dense C8] the weight's units and `units` differ: 3 != 4}}
  %r = relay.qnn.dense(%a0, %a1, %a2, %a3, %a4, %a5) {units = 4} : (tensor<2x4xi8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @scales(%a0: tensor<2x4xi8>, %a1: tensor<3x4xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<2xf32>) {
  // expected-error@below {{[relay.qnn.dense C9] extents of operand #5 and of the units: 2 != 3}}
  %r = relay.qnn.dense(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x4xi8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matrix(%a0: tensor<2x4xi8>, %a1: tensor<3x4xi8>, %a2: tensor<i32>, %a3: tensor<1x3xi32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.dense C9] operand #3 must be one number or a vector, found tensor<1x3xi32>}}
  %r = relay.qnn.dense(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x4xi8>, tensor<3x4xi8>, tensor<i32>, tensor<1x3xi32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @depths(%a0: tensor<2x4x8xi8>, %a1: tensor<2x4x7xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.batch_matmul C7] the depths of x and y differ: 8 != 7}}
  %r = relay.qnn.batch_matmul(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x4x8xi8>, tensor<2x4x7xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @stacks(%a0: tensor<2x4x8xi8>, %a1: tensor<3x4x8xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.batch_matmul C8] stacks of shapes (2) and (3) do not broadcast}}
  %r = relay.qnn.batch_matmul(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x4x8xi8>, tensor<3x4x8xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pack_layout(%a0: tensor<2x4xi8>, %a1: tensor<2x4x8xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.contrib_dense_pack C6]}}
  %r = relay.qnn.contrib_dense_pack(%a0, %a1, %a2, %a3, %a4, %a5) {weight_layout = "NC"}
      : (tensor<2x4xi8>, tensor<2x4x8xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pack_block(%a0: tensor<2x4xi8>, %a1: tensor<2x4x8xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.contrib_dense_pack C6] axis 16n of layout NC16n has extent 8}}
  %r = relay.qnn.contrib_dense_pack(%a0, %a1, %a2, %a3, %a4, %a5) {weight_layout = "NC16n"}
      : (tensor<2x4xi8>, tensor<2x4x8xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pack_depth(%a0: tensor<2x4xi8>, %a1: tensor<2x5x8xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.contrib_dense_pack C7] the depths of data and weight differ: 4 != 5}}
  %r = relay.qnn.contrib_dense_pack(%a0, %a1, %a2, %a3, %a4, %a5) {weight_layout = "NC8n"}
      : (tensor<2x4xi8>, tensor<2x5x8xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pack_units(%a0: tensor<2x4xi8>, %a1: tensor<2x4x8xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.contrib_dense_pack C8] the weight's units and `units` differ: 16 != 10}}
  %r = relay.qnn.contrib_dense_pack(%a0, %a1, %a2, %a3, %a4, %a5) {units = 10}
      : (tensor<2x4xi8>, tensor<2x4x8xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pack_scales(%a0: tensor<2x4xi8>, %a1: tensor<2x4x8xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<2xf32>) {
  // expected-error@below {{[relay.qnn.contrib_dense_pack C9] extents of operand #5 and of the units: 2 != 16}}
  %r = relay.qnn.contrib_dense_pack(%a0, %a1, %a2, %a3, %a4, %a5) {weight_layout = "NC8n"}
      : (tensor<2x4xi8>, tensor<2x4x8xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}
