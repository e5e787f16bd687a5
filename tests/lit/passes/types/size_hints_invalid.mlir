// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

// expected-error@+1 {{the sizes of n are minimum 5, maximum 4, typical 8}}
func.func @descending(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    attributes {relay.sizes = {n = array<i64: 5, 4, 8>}} {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}

// -----

// expected-error@+1 {{the sizes of n are [5, 8], not one or three numbers}}
func.func @two(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    attributes {relay.sizes = {n = array<i64: 5, 8>}} {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}

// -----

// expected-error@+1 {{relay.sizes of n must be an integer array, found 5 : i64}}
func.func @number(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    attributes {relay.sizes = {n = 5 : i64}} {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}

// -----

// The size hint of n contradicts the op's requirement.
func.func @impossible(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<9xf32>) -> tensor<9xf32>
    attributes {relay.sizes = {n = array<i64: 2, 8, 8>}} {
  // expected-error@+1 {{cannot hold here}}
  %z = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<9xf32>) -> tensor<9xf32>
  func.return %z : tensor<9xf32>
}
