// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-to-a-normal-form,relay-infer-type,relay-annotate-used-memory

func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  // expected-error @+1 {{AnnotateUsedMemory does not support dynamic shapes, found tensor<?xf32, #relay.dims<n>>}}
  func.return %x : tensor<?xf32, #relay.dims<n>>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a closure in @main is not primitive}}
  %f = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %p : tensor<4xf32>
  }
  %r = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a primitive closure captures a value}}
  %f = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1} {
    %s = relay.add(%p, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %r = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4294967296x4294967296xf32>) -> tensor<4xf32> {
  %f = relay.fn(%p: tensor<4294967296x4294967296xf32>) -> tensor<4xf32> attributes {Primitive = 1} {
    %s = relay.strided_slice(%p) {begin = [0, 0], end = [1, 4], strides = [1, 1]} : (tensor<4294967296x4294967296xf32>) -> tensor<1x4xf32>
    %r = relay.reshape(%s) {newshape = [4]} : (tensor<1x4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  // expected-error @+1 {{73786976294838206480 bytes are live here, more than 9223372036854775807}}
  %r = relay.invoke %f(%x) : (tensor<4294967296x4294967296xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// expected-error@unknown {{the module has no @main with a body}}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
