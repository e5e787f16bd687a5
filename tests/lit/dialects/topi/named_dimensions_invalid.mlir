// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// Violations at all sizes are rejected; violations at some sizes are not.
func.func @beyond(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + 1>> {
  %r = topi.compute "beyond" [%i : n + 1] : tensor<?xf32, #relay.dims<n + 1>> {
    // expected-error@below {{[topi.read C4] index 0 runs from 0 to n, outside of tensor<?xf32, #relay.dims<n>>}}
    %a = topi.read %x[%i] : tensor<?xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n + 1>>
}

// -----

func.func @before(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
  %r = topi.compute "before" [%i : 4] : tensor<4xf32> {
    // expected-error@below {{[topi.read C4] index 0 runs from -1 to 2, outside of}}
    %a = topi.read %x[%i - 1] : tensor<?xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @word(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
  %r = topi.compute "word" [%i : 4] : tensor<4xf32> {
    // expected-error@below {{'broadcastable'}}
    %a = topi.read %x[%i + broadcastable] : tensor<?xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @symbols(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
  %r = topi.compute "symbols" [%i : 4] : tensor<4xf32> {
    // expected-error@below {{[topi.read C1]}}
    %a = "topi.read"(%x, %i) <{access = affine_map<(d0)[s0] -> (d0 + s0)>}> : (tensor<?xf32, #relay.dims<n>>, index) -> f32
    topi.yield %a : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @shape(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<m>> {
  // expected-error@below {{[topi.compute C2] result tensor<?xf32, #relay.dims<m>> does not have the shape of the index space [n]}}
  %r = topi.compute "shape" [%i : n] : tensor<?xf32, #relay.dims<m>> {
    %a = topi.read %x[%i] : tensor<?xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<m>>
}

// -----

func.func @unnamed(%i: index) {
  // expected-error@below {{the size}}
  %c = topi.checked_index %i of ?
  func.return
}

// -----

func.func @scatter(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  // expected-error@below {{[topi.scatter C5] index 0 runs from 0 to n, outside of}}
  %r = topi.scatter "scatter" [%i : n + 1] update into %x : tensor<?xf32, #relay.dims<n>> {
    %zero = arith.constant 0.0 : f32
    topi.yield %i, %zero : index, f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// -----

func.func @sort(%x: tensor<?xf32, #relay.dims<n>>) {
  // expected-error@below {{[topi.sort C2] result tensor<?xf32, #relay.dims<n + 1>> of data of shape [n]}}
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<?xf32, #relay.dims<n>>) -> (tensor<?xf32, #relay.dims<n + 1>>, tensor<?xi64, #relay.dims<n + 1>>)
  func.return
}

// -----

func.func @weight(%x: tensor<1x3x8x8xf32>, %w: tensor<?x3x3x3xf32, #relay.dims<o>>) {
  // expected-error@below {{tensor<?x3x3x3xf32, #relay.dims<o>>}}
  %c = topi.conv2d_nchw(%x, %w) : (tensor<1x3x8x8xf32>, tensor<?x3x3x3xf32, #relay.dims<o>>) -> tensor<1x?x6x6xf32, #relay.dims<o>>
  func.return
}

// -----

func.func @depths(%x: tensor<4x?xf32, #relay.dims<k>>, %w: tensor<8x?xf32, #relay.dims<k + 1>>) {
  // expected-error@below {{[topi.matmul C2] data has rows of k elements, weight of k + 1}}
  %c = topi.matmul(%x, %w) : (tensor<4x?xf32, #relay.dims<k>>, tensor<8x?xf32, #relay.dims<k + 1>>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @value(%i: index, %n: index) {
  // expected-error@below {{[topi.checked_index C1] the size is a value, not a number or a dimension}}
  %c = topi.checked_index %i of %n
  func.return
}

// -----

func.func @neither(%i: index) {
  // expected-error@below {{[topi.checked_index C1]}}
  %c = "topi.checked_index"(%i) : (index) -> index
  func.return
}
