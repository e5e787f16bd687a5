// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<1x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) {
  // expected-error@below {{[relay.nn.batch_norm C1] axis 2 is out of range for rank 2}}
  %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) {axis = 2} : (tensor<1x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @extent(%x: tensor<1x8x4x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error@below {{[relay.nn.batch_norm C2] gamma and the data's axis differ in extent: 4 != 8}}
  %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) : (tensor<1x8x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @elements(%x: tensor<1x8xf32>, %g: tensor<8xf16>, %b: tensor<8xf16>, %m: tensor<8xf16>, %v: tensor<8xf16>) {
  // expected-error@below {{[relay.nn.batch_norm C3] element type f16 of gamma is not the data's, f32}}
  %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) : (tensor<1x8xf32>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) -> !relay.incomplete
  func.return
}

// -----

func.func @integers(%x: tensor<1x8xi32>, %g: tensor<8xi32>, %b: tensor<8xi32>, %m: tensor<8xi32>, %v: tensor<8xi32>) {
  // expected-error@below {{[relay.nn.batch_norm C3] the element type must be a float, found i32}}
  %r = relay.nn.batch_norm(%x, %g, %b, %m, %v) : (tensor<1x8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> !relay.incomplete
  func.return
}
