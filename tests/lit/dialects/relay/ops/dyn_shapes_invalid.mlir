// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_vector(%x: tensor<4xf32>, %s: tensor<2x2xi64>) {
  // expected-error@below {{[relay.dyn.reshape C1] the shape must be a vector of integers of known length, found tensor<2x2xi64>}}
  %r = relay.dyn.reshape(%x, %s) : (tensor<4xf32>, tensor<2x2xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @more_axes_than_arrays_have(%x: tensor<4xf32>, %s: tensor<1000000xi64>) {
  // expected-error@below {{[relay.dyn.reshape C1] the shape has 1000000 elements, a tensor at most 64 axes}}
  %r = relay.dyn.reshape(%x, %s) : (tensor<4xf32>, tensor<1000000xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @collapsed_to_floats(%x: tensor<4xf32>, %s: tensor<1xf32>) {
  // expected-error@below {{[relay.collapse_sum_to C1] the shape must be a vector of integers of known length, found tensor<1xf32>}}
  %r = relay.collapse_sum_to(%x, %s) : (tensor<4xf32>, tensor<1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @collapsed_to_more_axes(%x: tensor<4xf32>, %s: tensor<2xi32>) {
  // expected-error@below {{[relay.collapse_sum_to C2] 2 axes are more than the 1 of the data}}
  %r = relay.collapse_sum_to(%x, %s) : (tensor<4xf32>, tensor<2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_integers(%x: tensor<4xf32>, %s: tensor<2xf32>) {
  // expected-error@below {{[relay.dyn.broadcast_to C1] the shape must be a vector of integers of known length, found tensor<2xf32>}}
  %r = relay.dyn.broadcast_to(%x, %s) : (tensor<4xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @unknown_length(%x: tensor<f32>, %s: tensor<?xi64>) {
  // expected-error@below {{[relay.dyn.full C1] the shape must be a vector of integers of known length, found tensor<?xi64>}}
  %r = relay.dyn.full(%x, %s) : (tensor<f32>, tensor<?xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_scalar(%x: tensor<1xf32>, %s: tensor<2xi64>) {
  // expected-error@below {{[relay.dyn.full C3] the value must have rank 0, found tensor<1xf32>}}
  %r = relay.dyn.full(%x, %s) : (tensor<1xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return
}


// -----

func.func @repetitions(%x: tensor<4xf32>, %s: tensor<i64>) {
  // expected-error@below {{[relay.dyn.tile C1] the repetitions must be a vector of integers of known length, found tensor<i64>}}
  %r = relay.dyn.tile(%x, %s) : (tensor<4xf32>, tensor<i64>) -> !relay.incomplete
  func.return
}

// -----

// A shape operand without elements is static: that of a scalar.
func.func @no_elements(%x: tensor<0x1xf32>, %s: tensor<0xi64>) {
  // expected-error@below {{[relay.dyn.reshape C3]}}
  %r = relay.dyn.reshape(%x, %s) : (tensor<0x1xf32>, tensor<0xi64>) -> !relay.incomplete
  func.return
}
