// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @reshape_code(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C1] reshape code -5 is not one of}}
  %r = relay.reshape(%x) {newshape = [-5]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_twice(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C1] codes [-1, -1] have -1 twice}}
  %r = relay.reshape(%x) {newshape = [-1, -1]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_bad_split(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C1] -4 needs two extents after it}}
  %r = relay.reshape(%x) {newshape = [-4, 2]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_extents(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C2] codes [0, 0, 0, 0] use more than the 3 extents}}
  %r = relay.reshape(%x) {newshape = [0, 0, 0, 0]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_count(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C3] element counts of (2, 3, 4) and (2, 11) differ: 24 != 22}}
  %r = relay.reshape(%x) {newshape = [2, 11]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_rest(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C3] 24 elements modulo 5: 4 != 0}}
  %r = relay.reshape(%x) {newshape = [5, -1]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_split(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.reshape C3] extent 3 modulo 2: 1 != 0}}
  %r = relay.reshape(%x) {newshape = [0, -4, 2, -1, 0]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reshape_empty(%x: tensor<0x4xf32>) {
  // expected-error@below {{[relay.reshape C3]}}
  %r = relay.reshape(%x) {newshape = [0, -1]} : (tensor<0x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch_flatten(%x: tensor<f32>) {
  // expected-error@below {{[relay.nn.batch_flatten C1] data of rank 0 has no batch axis}}
  %r = relay.nn.batch_flatten(%x) : (tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @squeeze_axis(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.squeeze C1] axis 3 is out of range for rank 3}}
  %r = relay.squeeze(%x) {axis = [3]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @squeeze_twice(%x: tensor<1x3xf32>) {
  // expected-error@below {{[relay.squeeze C1] axes [0, -2] name an axis twice}}
  %r = relay.squeeze(%x) {axis = [0, -2]} : (tensor<1x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @squeeze_extent(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.squeeze C2]}}
  %r = relay.squeeze(%x) {axis = [1]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @squeeze_unknown(%x: tensor<?x1xf32>) {
  // expected-error@below {{[relay.squeeze C2]}}
  %r = relay.squeeze(%x) : (tensor<?x1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @expand_dims_axis(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.expand_dims C1] axis 4 is out of range for rank 3}}
  %r = relay.expand_dims(%x) {axis = 4} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @expand_dims_count(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.expand_dims C2] num_newaxis must be 0 to 64, found -1}}
  %r = relay.expand_dims(%x) {axis = 0, num_newaxis = -1} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @backwards_split(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.contrib_reverse_reshape C1] -4 needs two extents after it}}
  %r = relay.contrib_reverse_reshape(%x) {newshape = [2, -4]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @backwards_use(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.contrib_reverse_reshape C2] codes [0, 0, 0, 0] use more than the 3 extents}}
  %r = relay.contrib_reverse_reshape(%x) {newshape = [0, 0, 0, 0]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @backwards_count(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.contrib_reverse_reshape C3] 24 elements modulo 5: 4 != 0}}
  %r = relay.contrib_reverse_reshape(%x) {newshape = [-1, 5]} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return
}
