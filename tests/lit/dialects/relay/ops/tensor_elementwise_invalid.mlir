// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @cast_dtype(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.cast C1] the dtype must be an element type, found 3 : i64}}
  %r = relay.cast(%x) {dtype = 3} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @cast_tuple(%x: tuple<tensor<4xf32>>) {
  // expected-error@below {{[relay.cast C0] operand #0 must be a tensor}}
  %r = relay.cast(%x) {dtype = i32} : (tuple<tensor<4xf32>>) -> !relay.incomplete
  func.return
}

// -----

// expected-error@below {{[relay.dims C1] 1 names for 2 dynamic dimensions}}
func.func @dims_count(%x: tensor<?x?xf32, #relay.dims<n>>) {
  %r = relay.exp(%x) : (tensor<?x?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return
}

// -----

func.func @reinterpret_dtype(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.reinterpret C1] the dtype must be an element type, found 3 : i64}}
  %r = relay.reinterpret(%x) {dtype = 3} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @reinterpret_bits(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.reinterpret C2]}}
  %r = relay.reinterpret(%x) {dtype = bf16} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}
