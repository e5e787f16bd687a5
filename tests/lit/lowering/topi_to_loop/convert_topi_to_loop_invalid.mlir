// RUN: xrelay-opt %s -p convert-topi-to-loop --split-input-file --verify-diagnostics

func.func private @named(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  // expected-error@below {{'topi.softmax' is a named op; help: run topi-expand-named before}}
  %s = topi.softmax(%x) {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

func.func private @relay(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  // expected-error@below {{failed to convert relay.nn.relu to loop}}
  %s = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// expected-error@+2 {{tensor<?xf32> has no buffer: the loop level requires known or named extents}}
func.func private @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

// The sizes of allocations depend on the names of inputs.
func.func private @k(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<m>>
func.func @graph(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  // expected-error@below {{the extent m is not known here; help: use the name in the type of an input}}
  %y = func.call @k(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<m>>
  func.return %x : tensor<?xf32, #relay.dims<n>>
}

// -----

func.func private @callee(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @graph(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  // expected-error@below {{@callee has named dimensions and no body}}
  %y = relay.call @callee<n = n>(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %y : tensor<?xf32, #relay.dims<n>>
}

// -----

// The unnamed extents of rows are unknown before the loop ends.
func.func @graph(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<?x?xf32, #relay.dims<i, 2 * l>> {
  // expected-error@below {{the extents of stacked rows are only known within an iteration; help: run the program in the interpreter}}
  %r = relay.loop(%j, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<?xf32, #relay.dims<l>>, tensor<?x?xf32, #relay.dims<i, 2 * l>>> attributes {relay.binds = #relay.bounds<i, l>} {
    %t = relay.tuple(%s, %s) : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<m>>) -> tuple<tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<m>>>
    relay.yield %t : tuple<tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<m>>>
  }
  %q = relay.tuple_get_item(%r) {index = 1} : (tuple<tensor<?xf32, #relay.dims<l>>, tensor<?x?xf32, #relay.dims<i, 2 * l>>>) -> tensor<?x?xf32, #relay.dims<i, 2 * l>>
  func.return %q : tensor<?x?xf32, #relay.dims<i, 2 * l>>
}

// -----

func.func @graph(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<?xf32, #relay.dims<2 * k>> {
  // expected-error@below {{no axis of the result has the extent k alone; help: use a name for each varying extent in the types}}
  %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<2 * k>> attributes {relay.binds = #relay.bounds<k>} {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<?xf32, #relay.dims<2 * k>>
}
