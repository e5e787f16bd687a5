// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @transpose_rank(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.transpose C1]}}
  %r = relay.transpose(%x) {axes = [0, 1]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transpose_twice(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.transpose C1] axes [0, 1, 1] name an axis twice}}
  %r = relay.transpose(%x) {axes = [0, 1, 1]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @layout_axes(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.layout_transform C1] layouts NCW and NHW have different axes}}
  %r = relay.layout_transform(%x) {src_layout = "NCW", dst_layout = "NHW"} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @layout_text(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.layout_transform C1] layout 'N4xC' splits the axis X before naming it}}
  %r = relay.layout_transform(%x) {src_layout = "NCW", dst_layout = "N4xC"} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @layout_rank(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.layout_transform C2] layout NCHW has 4 axes, the shape (2, 3, 4) 3}}
  %r = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pad_width(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error@below {{[relay.nn.pad C1]}}
  %r = relay.nn.pad(%x, %v) {pad_width = [0, 1]} : (tensor<2x3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pad_mode(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error@below {{[relay.nn.pad C2] pad_mode must be one of constant, edge, reflect, found 'wrap'}}
  %r = relay.nn.pad(%x, %v) {pad_width = [0, 0, 0, 0], pad_mode = "wrap"} : (tensor<2x3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pad_value(%x: tensor<2x3xf32>, %v: tensor<1xf32>) {
  // expected-error@below {{[relay.nn.pad C3] the pad value must be tensor<f32>, found tensor<1xf32>}}
  %r = relay.nn.pad(%x, %v) {pad_width = [0, 0, 0, 0]} : (tensor<2x3xf32>, tensor<1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @pad_reflect(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error@below {{[relay.nn.pad C4] mode 'reflect' cannot pad an extent of 2 by 2}}
  %r = relay.nn.pad(%x, %v) {pad_width = [0, 2, 0, 0], pad_mode = "reflect"} : (tensor<2x3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}
