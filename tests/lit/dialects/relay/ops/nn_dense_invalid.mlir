// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @dense_rank(%x: tensor<2x5xf32>, %w: tensor<5xf32>) {
  // expected-error@below {{[relay.nn.dense C1] needs data of rank 1 or more and a weight of rank 2, found ranks 2 and 1}}
  %r = relay.nn.dense(%x, %w) : (tensor<2x5xf32>, tensor<5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_depth(%x: tensor<2x5xf32>, %w: tensor<4x6xf32>) {
  // expected-error@below {{[relay.nn.dense C2] data's last extent and weight's second differ: 5 != 6}}
  %r = relay.nn.dense(%x, %w) : (tensor<2x5xf32>, tensor<4x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_units(%x: tensor<2x5xf32>, %w: tensor<4x5xf32>) {
  // expected-error@below {{[relay.nn.dense C3] weight's first extent and units differ: 4 != 3}}
  %r = relay.nn.dense(%x, %w) {units = 3} : (tensor<2x5xf32>, tensor<4x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_elements(%x: tensor<2x5xf32>, %w: tensor<4x5xf64>) {
  // expected-error@below {{[relay.nn.dense C4] element types f32 != f64}}
  %r = relay.nn.dense(%x, %w) : (tensor<2x5xf32>, tensor<4x5xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_out_dtype(%x: tensor<2x5xf32>, %w: tensor<4x5xf32>) {
  // expected-error@below {{[relay.nn.dense C5] the dtype must be an element type, found 3 : i64}}
  %r = relay.nn.dense(%x, %w) {out_dtype = 3} : (tensor<2x5xf32>, tensor<4x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_products(%x: tensor<2x5xf32>, %w: tensor<4x5xf32>) {
  // expected-error@below {{[relay.nn.dense C5] out_dtype ui8 cannot hold sums of products of f32}}
  %r = relay.nn.dense(%x, %w) {out_dtype = ui8} : (tensor<2x5xf32>, tensor<4x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @bias_axis(%x: tensor<2x4xf32>, %b: tensor<4xf32>) {
  // expected-error@below {{[relay.nn.bias_add C1] axis 2 is out of range for rank 2}}
  %r = relay.nn.bias_add(%x, %b) {axis = 2} : (tensor<2x4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @bias_extent(%x: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error@below {{[relay.nn.bias_add C2] the bias and axis 1 of the data differ in extent: 3 != 4}}
  %r = relay.nn.bias_add(%x, %b) : (tensor<2x4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @bias_elements(%x: tensor<2x4xf32>, %b: tensor<4xf16>) {
  // expected-error@below {{[relay.nn.bias_add C3] element types f32 != f16}}
  %r = relay.nn.bias_add(%x, %b) : (tensor<2x4xf32>, tensor<4xf16>) -> !relay.incomplete
  func.return
}
