// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @take_of_nothing(%x: tensor<0x8xf32>, %i: tensor<3xi64>) {
  // expected-error@below {{[relay.take C5]}}
  %y = relay.take(%x, %i) {axis = 0} : (tensor<0x8xf32>, tensor<3xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @gather_rank(%x: tensor<4x8xf32>, %i: tensor<3xi64>) {
  // expected-error@below {{[relay.gather C3] data of shape (4, 8) and indices of shape (3) differ in rank}}
  %y = relay.gather(%x, %i) {axis = 0} : (tensor<4x8xf32>, tensor<3xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @gather_reach(%x: tensor<4x8xf32>, %i: tensor<3x9xi64>) {
  // expected-error@below {{[relay.gather C3] the indices have 9 elements along axis 1, the data has 8}}
  %y = relay.gather(%x, %i) {axis = 0} : (tensor<4x8xf32>, tensor<3x9xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_scalar(%x: tensor<4x8xf32>, %i: tensor<i64>) {
  // expected-error@below {{[relay.gather_nd C2]}}
  %y = relay.gather_nd(%x, %i)  : (tensor<4x8xf32>, tensor<i64>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_open(%x: tensor<4x8xf32>, %i: tensor<?x5xi64, #relay.dims<n>>) {
  // expected-error@below {{[relay.gather_nd C2] the first extent of the indices, n, is unknown}}
  %y = relay.gather_nd(%x, %i)  : (tensor<4x8xf32>, tensor<?x5xi64, #relay.dims<n>>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_index_rank(%x: tensor<4x8xf32>, %i: tensor<2x5xi64>) {
  // expected-error@below {{[relay.gather_nd C2] index_rank 2 != 1}}
  %y = relay.gather_nd(%x, %i) {index_rank = 1} : (tensor<4x8xf32>, tensor<2x5xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_parts(%x: tensor<4x8xf32>, %i: tensor<3x5xi64>) {
  // expected-error@below {{[relay.gather_nd C3]}}
  %y = relay.gather_nd(%x, %i)  : (tensor<4x8xf32>, tensor<3x5xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @one_hot_values(%i: tensor<3xi64>, %a: tensor<f32>, %b: tensor<i32>) {
  // expected-error@below {{[relay.one_hot C3] the values must both be tensor<f32>, found tensor<f32> and tensor<i32>}}
  %y = relay.one_hot(%i, %a, %b) {depth = 4} : (tensor<3xi64>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @one_hot_rank(%i: tensor<3xi64>, %a: tensor<1xf32>, %b: tensor<f32>) {
  // expected-error@below {{[relay.one_hot C3] the values must both be tensor<f32>, found tensor<1xf32> and tensor<f32>}}
  %y = relay.one_hot(%i, %a, %b) {depth = 4} : (tensor<3xi64>, tensor<1xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @one_hot_axis(%i: tensor<3xi64>, %a: tensor<f32>, %b: tensor<f32>) {
  // expected-error@below {{[relay.one_hot C4] axis 2 is out of range for rank 2}}
  %y = relay.one_hot(%i, %a, %b) {depth = 4, axis = 2} : (tensor<3xi64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}
