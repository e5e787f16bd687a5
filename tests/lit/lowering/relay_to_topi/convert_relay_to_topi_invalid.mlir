// RUN: xrelay-opt %s -p convert-relay-to-topi --split-input-file --verify-diagnostics

// An extent of the index space must be static or named.
func.func private @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> attributes {relay.primitive} {
  // expected-error@+1 {{native code needs extents that are known or have names}}
  %0 = relay.nn.relu(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// A constant of several elements must be a parameter of a kernel.
func.func private @constant() -> tensor<2xf32> attributes {relay.primitive} {
  // expected-error@+1 {{must be a parameter}}
  %0 = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A tuple must not be a parameter.
func.func private @outside(%t: tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32> attributes {relay.primitive} {
  // expected-error@+1 {{reaches a kernel from outside}}
  %0 = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// An earlier pass must name the length of a slice.
func.func private @bounds(%x: tensor<8xf32>, %b: tensor<1xi64>) -> tensor<?xf32, #relay.dims<k>> attributes {relay.primitive} {
  // expected-error@+1 {{its ends are bounds, not numbers of elements; run relay-name-extents first}}
  %y = relay.dyn.strided_slice(%x, %b, %b, %b) : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<k>>
  func.return %y : tensor<?xf32, #relay.dims<k>>
}

// -----

func.func private @made(%x: tensor<8xf32>, %b: tensor<1xi64>) -> tensor<?xf32, #relay.dims<k>> attributes {relay.primitive} {
  // expected-error@+1 {{it introduces the extent k; run relay-name-extents first}}
  %y = relay.dyn.strided_slice(%x, %b, %b, %b) {slice_mode = "size", relay.binds = #relay.bounds<k <= 8>} : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<k>>
  func.return %y : tensor<?xf32, #relay.dims<k>>
}
