// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @floats(%s: tensor<2xf32>) {
  // expected-error@below {{[relay.extents C1] the extents must be an integer, or a list of at most 64, found tensor<2xf32>}}
  %v = relay.extents(%s) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @matrix(%s: tensor<1x2xi64>) {
  // expected-error@below {{[relay.extents C1] the extents must be an integer, or a list of at most 64, found tensor<1x2xi64>}}
  %v = relay.extents(%s) : (tensor<1x2xi64>) -> tensor<1x2xi64>
  func.return
}

// -----

func.func @names(%s: tensor<2xi64>) {
  // expected-error@below {{[relay.extents C2] relay.binds has 1 names for 2 extents}}
  %v = relay.extents(%s) {relay.binds = #relay.bounds<p>} : (tensor<2xi64>) -> tensor<2xi64>
  func.return
}

// -----

func.func @axis(%x: tensor<8xi32>, %n: tensor<i64>) {
  // expected-error@below {{[relay.cut C1]}}
  %y = relay.cut(%x, %n) {axis = 1} : (tensor<8xi32>, tensor<i64>) -> tensor<?xi32>
  func.return
}

// -----

func.func @cut_names(%x: tensor<8xi32>, %n: tensor<i64>) {
  // expected-error@below {{[relay.cut C2] relay.binds has 2 names for 1 extents}}
  %y = relay.cut(%x, %n) {relay.binds = #relay.bounds<k, j>} : (tensor<8xi32>, tensor<i64>) -> tensor<?xi32>
  func.return
}

// -----

func.func @list(%x: tensor<8xi32>, %n: tensor<1xi64>) {
  // expected-error@below {{[relay.cut C3] the count must be an integer of rank 0, found tensor<1xi64>}}
  %y = relay.cut(%x, %n) : (tensor<8xi32>, tensor<1xi64>) -> tensor<?xi32>
  func.return
}
