// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<4x8xf32>) {
  // expected-error@below {{[topi.sort C1] axis 2 of a tensor of rank 2}}
  %v, %i = topi.sort(%x) {axis = 2 : i64} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
  func.return
}

// -----

func.func @longer(%x: tensor<4x8xf32>) {
  // expected-error@below {{[topi.sort C2]}}
  %v, %i = topi.sort(%x) {axis = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4x9xf32>, tensor<4x9xi64>)
  func.return
}

// -----

func.func @rows(%x: tensor<4x8xf32>) {
  // expected-error@below {{[topi.sort C2] result tensor<3x8xi64> of data of shape [4, 8]}}
  %v, %i = topi.sort(%x) {axis = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x8xi64>)
  func.return
}

// -----

func.func @counts(%x: tensor<8xf32>) {
  // expected-error@below {{[topi.sort C2]}}
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<8xf32>) -> (tensor<3xf32>, tensor<2xi64>)
  func.return
}

// -----

func.func @element(%x: tensor<8xf32>) {
  // expected-error@below {{[topi.sort C3]}}
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<8xf32>) -> (tensor<8xf64>, tensor<8xi64>)
  func.return
}

// -----

func.func @indices(%x: tensor<8xf32>) {
  // expected-error@below {{[topi.sort C3] indices are tensor<8xi32>, not of i64}}
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi32>)
  func.return
}
