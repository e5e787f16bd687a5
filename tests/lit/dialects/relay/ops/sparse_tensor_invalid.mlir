// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @parts(%i: tensor<3x2xi64>, %v: tensor<3xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.sparse_to_dense C6]}}
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8, 2]} : (tensor<3x2xi64>, tensor<3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @vector(%i: tensor<3xi64>, %v: tensor<3xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.sparse_to_dense C6]}}
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]} : (tensor<3xi64>, tensor<3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @values(%i: tensor<3x2xi64>, %v: tensor<4xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.sparse_to_dense C7]}}
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]} : (tensor<3x2xi64>, tensor<4xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @one_place(%i: tensor<i64>, %v: tensor<2xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.sparse_to_dense C7]}}
  %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4]} : (tensor<i64>, tensor<2xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshaped_parts(%i: tensor<3x2xi64>, %p: tensor<3xi64>, %n: tensor<2xi64>) {
  // expected-error@below {{[relay.sparse_reshape C7]}}
  %y = relay.sparse_reshape(%i, %p, %n) : (tensor<3x2xi64>, tensor<3xi64>, tensor<2xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @dyn_shape(%i: tensor<3x2xi64>, %s: tensor<2xf32>, %v: tensor<3xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.dyn.sparse_to_dense C1] the shape must be a vector of integers of known length, found tensor<2xf32>}}
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<3x2xi64>, tensor<2xf32>, tensor<3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dyn_parts(%i: tensor<3x2xi64>, %s: tensor<3xi64>, %v: tensor<3xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.dyn.sparse_to_dense C7]}}
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<3x2xi64>, tensor<3xi64>, tensor<3xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dyn_values(%i: tensor<3x2xi64>, %s: tensor<2xi64>, %v: tensor<4xf32>, %d: tensor<f32>) {
  // expected-error@below {{[relay.dyn.sparse_to_dense C8]}}
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<3x2xi64>, tensor<2xi64>, tensor<4xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}
