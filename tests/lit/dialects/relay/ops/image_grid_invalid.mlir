// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @one_axis_less(%x: tensor<1x3x4x4xf32>, %g: tensor<1x3x4x4xf32>) {
  // expected-error@below {{[relay.image.grid_sample C5]}}
  %r = relay.image.grid_sample(%x, %g) : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @volume(%x: tensor<1x3x4x4xf32>, %g: tensor<1x3x4x4x4xf32>) {
  // expected-error@below {{[relay.image.grid_sample C5] data of shape (1, 3, 4, 4) and a grid of shape (1, 3, 4, 4, 4) for NCDHW}}
  %r = relay.image.grid_sample(%x, %g) {layout = "NCDHW"} : (tensor<1x3x4x4xf32>, tensor<1x3x4x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @empty(%x: tensor<1x3x4x0xf32>, %g: tensor<1x2x4x4xf32>) {
  // expected-error@below {{[relay.image.grid_sample C6] a spatial extent of the data 0 is less than 1}}
  %r = relay.image.grid_sample(%x, %g) : (tensor<1x3x4x0xf32>, tensor<1x2x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @cubic_volume(%x: tensor<1x3x4x4x4xf32>, %g: tensor<1x3x2x2x2xf32>) {
  // expected-error@below {{[relay.image.grid_sample C7] bicubic with layout NCDHW}}
  %r = relay.image.grid_sample(%x, %g) {layout = "NCDHW", method = "bicubic"} : (tensor<1x3x4x4x4xf32>, tensor<1x3x2x2x2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @booleans(%x: tensor<1x3x4x4xi1>, %g: tensor<1x2x2x2xf32>) {
  // expected-error@below {{[relay.image.grid_sample C8]}}
  %r = relay.image.grid_sample(%x, %g) : (tensor<1x3x4x4xi1>, tensor<1x2x2x2xf32>) -> !relay.incomplete
  func.return
}
