// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) {
  // expected-error@below {{[relay.scatter_elements C5] data of shape (4, 8) and indices of shape (3) differ in rank}}
  %y = relay.scatter_elements(%x, %i, %u)  : (tensor<4x8xf32>, tensor<3xi64>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reach(%x: tensor<4x8xf32>, %i: tensor<3x9xi64>, %u: tensor<3x9xf32>) {
  // expected-error@below {{[relay.scatter_elements C5] the indices have 9 elements along axis 1, the data has 8}}
  %y = relay.scatter_elements(%x, %i, %u)  : (tensor<4x8xf32>, tensor<3x9xi64>, tensor<3x9xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @shapes(%x: tensor<4x8xf32>, %i: tensor<3x8xi64>, %u: tensor<2x8xf32>) {
  // expected-error@below {{[relay.scatter_elements C6] indices and updates: extents of axis 0 3 != 2}}
  %y = relay.scatter_elements(%x, %i, %u)  : (tensor<4x8xf32>, tensor<3x8xi64>, tensor<2x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @ranks(%x: tensor<4x8xf32>, %i: tensor<3x8xi64>, %u: tensor<3xf32>) {
  // expected-error@below {{[relay.scatter_elements C6] indices and updates: shapes (3, 8) and (3) differ}}
  %y = relay.scatter_elements(%x, %i, %u)  : (tensor<4x8xf32>, tensor<3x8xi64>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @booleans(%x: tensor<4x8xi1>, %i: tensor<3x8xi64>, %u: tensor<3x8xi1>) {
  // expected-error@below {{[relay.scatter_elements C7]}}
  %y = relay.scatter_elements(%x, %i, %u) {reduction = "add"} : (tensor<4x8xi1>, tensor<3x8xi64>, tensor<3x8xi1>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_scalar(%x: tensor<4x8xf32>, %i: tensor<i64>, %u: tensor<f32>) {
  // expected-error@below {{[relay.scatter_nd C4]}}
  %y = relay.scatter_nd(%x, %i, %u)  : (tensor<4x8xf32>, tensor<i64>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_parts(%x: tensor<4x8xf32>, %i: tensor<3x5xi64>, %u: tensor<5xf32>) {
  // expected-error@below {{[relay.scatter_nd C4] tuples of 3 do not index data of shape (4, 8)}}
  %y = relay.scatter_nd(%x, %i, %u)  : (tensor<4x8xf32>, tensor<3x5xi64>, tensor<5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_shapes(%x: tensor<4x8xf32>, %i: tensor<1x5xi64>, %u: tensor<5xf32>) {
  // expected-error@below {{[relay.scatter_nd C5] slices and updates: shapes (5, 8) and (5) differ}}
  %y = relay.scatter_nd(%x, %i, %u)  : (tensor<4x8xf32>, tensor<1x5xi64>, tensor<5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_extents(%x: tensor<4x8xf32>, %i: tensor<1x5xi64>, %u: tensor<5x7xf32>) {
  // expected-error@below {{[relay.scatter_nd C5] slices and updates: extents of axis 1 8 != 7}}
  %y = relay.scatter_nd(%x, %i, %u)  : (tensor<4x8xf32>, tensor<1x5xi64>, tensor<5x7xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nd_booleans(%x: tensor<4x8xi1>, %i: tensor<2x5xi64>, %u: tensor<5xi1>) {
  // expected-error@below {{[relay.scatter_nd C6]}}
  %y = relay.scatter_nd(%x, %i, %u) {mode = "mul"} : (tensor<4x8xi1>, tensor<2x5xi64>, tensor<5xi1>) -> !relay.incomplete
  func.return
}
