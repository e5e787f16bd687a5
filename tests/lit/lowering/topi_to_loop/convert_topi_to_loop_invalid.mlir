// RUN: xrelay-opt %s -p convert-topi-to-loop --split-input-file --verify-diagnostics

func.func private @named(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  // expected-error@below {{'topi.softmax' is still named; help: run topi-expand-named before}}
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

// expected-error@+2 {{tensor<?xf32> has no buffer: the loop level needs tensors of static shape}}
func.func private @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

func.func private @rows(%x: tensor<4x?xf32, #relay.dims<n>>) -> tensor<4x?xf32, #relay.dims<n>> attributes {relay.primitive} {
  // expected-error@below {{rows of n elements are sorted; native code sorts rows of known length}}
  %v, %i = topi.sort(%x) {axis = 1 : i64} : (tensor<4x?xf32, #relay.dims<n>>) -> (tensor<4x?xf32, #relay.dims<n>>, tensor<4x?xi64, #relay.dims<n>>)
  func.return %v : tensor<4x?xf32, #relay.dims<n>>
}

// -----

// The graph function has buffers of known size alone.
// expected-error@+2 {{tensor<?xf32, #relay.dims<n>> has no buffer: the loop level needs tensors of static shape}}
func.func @graph(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
