// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @equal_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.equal C1] element types f32 != i32}}
  %r = relay.equal(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @not_equal_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.not_equal C1] element types f32 != i32}}
  %r = relay.not_equal(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @less_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.less C1] element types f32 != i32}}
  %r = relay.less(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @less_equal_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.less_equal C1] element types f32 != i32}}
  %r = relay.less_equal(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @greater_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.greater C1] element types f32 != i32}}
  %r = relay.greater(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @greater_equal_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.greater_equal C1] element types f32 != i32}}
  %r = relay.greater_equal(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @equal_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.equal C2] shapes (4) and (3) do not broadcast}}
  %r = relay.equal(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @not_equal_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.not_equal C2] shapes (4) and (3) do not broadcast}}
  %r = relay.not_equal(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @less_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.less C2] shapes (4) and (3) do not broadcast}}
  %r = relay.less(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @less_equal_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.less_equal C2] shapes (4) and (3) do not broadcast}}
  %r = relay.less_equal(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @greater_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.greater C2] shapes (4) and (3) do not broadcast}}
  %r = relay.greater(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @greater_equal_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.greater_equal C2] shapes (4) and (3) do not broadcast}}
  %r = relay.greater_equal(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @equal_result(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.equal C0] result type tensor<4xf32> does not follow from the operands, which give tensor<4xi1>}}
  %r = relay.equal(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
