// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_rows(%x: tensor<f32>, %w: tensor<2x5x8xf32>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C1] data of rank 0 has no rows}}
  %r = relay.nn.contrib_dense_pack(%x, %w) : (tensor<f32>, tensor<2x5x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @layout_without_blocks(%x: tensor<2x5xf32>, %w: tensor<8x5xf32>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C2]}}
  %r = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC"} : (tensor<2x5xf32>, tensor<8x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @weight_in_other_blocks(%x: tensor<2x5xf32>, %w: tensor<2x5x4xf32>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C2] axis 8n of layout NC8n has extent 4}}
  %r = relay.nn.contrib_dense_pack(%x, %w) : (tensor<2x5xf32>, tensor<2x5x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @depth(%x: tensor<2x6xf32>, %w: tensor<2x5x8xf32>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C3] data's last extent and the weight's C differ: 6 != 5}}
  %r = relay.nn.contrib_dense_pack(%x, %w) : (tensor<2x6xf32>, tensor<2x5x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @units(%x: tensor<2x5xf32>, %w: tensor<2x5x8xf32>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C4] the weight's N and 7 units in blocks differ: 16 != 8}}
  %r = relay.nn.contrib_dense_pack(%x, %w) {units = 7} : (tensor<2x5xf32>, tensor<2x5x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @element_types(%x: tensor<2x5xf32>, %w: tensor<2x5x8xf64>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C5] element types f32 != f64}}
  %r = relay.nn.contrib_dense_pack(%x, %w) : (tensor<2x5xf32>, tensor<2x5x8xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @products(%x: tensor<2x5xi32>, %w: tensor<2x5x8xi32>) {
  // expected-error@below {{[relay.nn.contrib_dense_pack C6] out_dtype i8 cannot hold sums of products of i32}}
  %r = relay.nn.contrib_dense_pack(%x, %w) {out_dtype = i8} : (tensor<2x5xi32>, tensor<2x5x8xi32>) -> !relay.incomplete
  func.return
}
