// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @sigmoid(%x: tensor<4xi32>) {
  // expected-error@below {{[relay.sigmoid C1] the element type must be a float, found i32}}
  %r = relay.sigmoid(%x) : (tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @exp(%x: tensor<4xi32>) {
  // expected-error@below {{[relay.exp C1] the element type must be a float, found i32}}
  %r = relay.exp(%x) : (tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.add C1] element types f32 != f64; help: cast one operand}}
  %r = relay.add(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @multiply_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.multiply C1] element types f32 != f64; help: cast one operand}}
  %r = relay.multiply(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @subtract_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.subtract C1] element types f32 != f64; help: cast one operand}}
  %r = relay.subtract(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @divide_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.divide C1] element types f32 != f64; help: cast one operand}}
  %r = relay.divide(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @maximum_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.maximum C1] element types f32 != f64; help: cast one operand}}
  %r = relay.maximum(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @minimum_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.minimum C1] element types f32 != f64; help: cast one operand}}
  %r = relay.minimum(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @power_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{[relay.power C1] element types f32 != f64; help: cast one operand}}
  %r = relay.power(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.add C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.add(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @multiply_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.multiply C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.multiply(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @subtract_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.subtract C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.subtract(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @divide_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.divide C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.divide(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @maximum_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.maximum C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.maximum(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @minimum_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.minimum C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.minimum(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @power_shapes(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.power C2] shapes (4, 8) and (4) do not broadcast}}
  %r = relay.power(%x, %y) : (tensor<4x8xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_named(%x: tensor<?xf32, #relay.dims<n + 2>>, %y: tensor<?xf32, #relay.dims<n + 3>>) {
  // expected-error@below {{[relay.add C2] shapes (n + 2) and (n + 3) do not broadcast}}
  %r = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n + 2>>, tensor<?xf32, #relay.dims<n + 3>>) -> !relay.incomplete
  func.return
}

// -----

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

func.func @dims_count(%x: tensor<?x?xf32, #relay.dims<n>>) {
  // expected-error@below {{[relay.dims C1] 1 names for 2 dynamic dimensions}}
  %r = relay.exp(%x) : (tensor<?x?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return
}
