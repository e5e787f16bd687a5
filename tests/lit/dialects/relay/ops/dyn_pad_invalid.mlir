// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @list(%x: tensor<4x2xf32>, %w: tensor<4xi64>, %v: tensor<f32>) {
  // expected-error@below {{[relay.dyn.nn.pad C2] the widths of tensor<4x2xf32> are two integers for each axis, found tensor<4xi64>}}
  %r = relay.dyn.nn.pad(%x, %w, %v) : (tensor<4x2xf32>, tensor<4xi64>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @floats(%x: tensor<4xf32>, %w: tensor<1x2xf32>, %v: tensor<f32>) {
  // expected-error@below {{[relay.dyn.nn.pad C2] the widths of tensor<4xf32> are two integers for each axis, found tensor<1x2xf32>}}
  %r = relay.dyn.nn.pad(%x, %w, %v) : (tensor<4xf32>, tensor<1x2xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @booleans(%x: tensor<2x2xf32>, %w: tensor<2x2xi1>, %v: tensor<f32>) {
  // expected-error@below {{[relay.dyn.nn.pad C2] the widths of tensor<2x2xf32> are two integers for each axis, found tensor<2x2xi1>}}
  %r = relay.dyn.nn.pad(%x, %w, %v) : (tensor<2x2xf32>, tensor<2x2xi1>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @value(%x: tensor<4xf32>, %w: tensor<1x2xi64>, %v: tensor<1xf32>) {
  // expected-error@below {{[relay.dyn.nn.pad C3] the pad value must be tensor<f32>, found tensor<1xf32>}}
  %r = relay.dyn.nn.pad(%x, %w, %v) : (tensor<4xf32>, tensor<1x2xi64>, tensor<1xf32>) -> !relay.incomplete
  func.return
}
