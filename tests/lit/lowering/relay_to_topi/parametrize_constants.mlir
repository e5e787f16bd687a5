// RUN: xrelay-opt %s -p relay-parametrize-constants --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p "relay-parametrize-constants{least=3}" --split-input-file | filecheck %s --check-prefix=FEW
// RUN: xrelay-opt %s -p relay-parametrize-constants --split-input-file --remarks 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Numbers that vary become arguments, those that vary alike one argument; the others stay.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%x: tensor<4xf32>)
// CHECK-DAG:     %[[TWO:.*]] = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG:     %[[THREE:.*]] = relay.constant dense<3.000000e+00> : tensor<f32>
// CHECK:         %y = func.call @scale(%x, %[[TWO]]) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %z = func.call @scale(%y, %[[THREE]])
// CHECK-NEXT:    %w = func.call @scale(%z, %[[TWO]])
// CHECK-NEXT:    func.return %w
// CHECK:       func.func private @scale(%p: tensor<4xf32>, %d: tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %one = relay.constant dense<1.000000e+00>
// CHECK-NEXT:    %0 = relay.multiply(%p, %d)
// CHECK-NEXT:    %1 = relay.subtract(%0, %d)
// CHECK-NEXT:    %2 = relay.add(%1, %one)
// CHECK-NEXT:    func.return
// CHECK-NOT:   @scale_1
// FEW-LABEL:   func.func @main
// FEW:           func.call @scale(
// FEW:           func.call @scale_1(
// REMARK:      relay-parametrize-constants: func.func: replaces 2 kernels that differ in numbers alone
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @scale(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @scale_1(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %w = func.call @scale(%z) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @scale(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.constant dense<2.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.multiply(%p, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.subtract(%0, %d) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.add(%1, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
func.func private @scale_1(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %c = relay.constant dense<3.0> : tensor<f32>
  %d = relay.constant dense<3.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.multiply(%p, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relay.subtract(%0, %d) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relay.add(%1, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A call in a region reads a constant of its function; calls with named dimensions keep their bindings.
// CHECK-LABEL: func.func @region
// CHECK-NEXT:    %[[FOUR:.*]] = relay.constant dense<4> : tensor<i32>
// CHECK-NEXT:    %[[FIVE:.*]] = relay.constant dense<5> : tensor<i32>
// CHECK:         relay.call @shift<d = n>(%x, %[[FIVE]])
// CHECK:         relay.call @shift<d = n>(%x, %[[FOUR]])
// CHECK:       func.func private @shift(%p: tensor<?xi32, #relay.dims<d>>, %c: tensor<i32>)
func.func @region(%x: tensor<?xi32, #relay.dims<n>>, %b: tensor<i1>) -> tensor<?xi32, #relay.dims<n>> {
  %y = relay.if %b : tensor<i1> -> tensor<?xi32, #relay.dims<n>> {
    %0 = relay.call @shift<d = n>(%x) : (tensor<?xi32, #relay.dims<n>>) -> tensor<?xi32, #relay.dims<n>>
    relay.yield %0 : tensor<?xi32, #relay.dims<n>>
  } else {
    %0 = relay.call @shift_1<d = n>(%x) : (tensor<?xi32, #relay.dims<n>>) -> tensor<?xi32, #relay.dims<n>>
    relay.yield %0 : tensor<?xi32, #relay.dims<n>>
  }
  func.return %y : tensor<?xi32, #relay.dims<n>>
}
func.func private @shift(%p: tensor<?xi32, #relay.dims<d>>) -> tensor<?xi32, #relay.dims<d>> attributes {relay.primitive} {
  %c = relay.constant dense<5> : tensor<i32>
  %0 = relay.add(%p, %c) : (tensor<?xi32, #relay.dims<d>>, tensor<i32>) -> tensor<?xi32, #relay.dims<d>>
  func.return %0 : tensor<?xi32, #relay.dims<d>>
}
func.func private @shift_1(%p: tensor<?xi32, #relay.dims<d>>) -> tensor<?xi32, #relay.dims<d>> attributes {relay.primitive} {
  %c = relay.constant dense<4> : tensor<i32>
  %0 = relay.add(%p, %c) : (tensor<?xi32, #relay.dims<d>>, tensor<i32>) -> tensor<?xi32, #relay.dims<d>>
  func.return %0 : tensor<?xi32, #relay.dims<d>>
}

// -----

// Divisors, for which math-expand finds products, and limits stay; so do kernels that differ in ops, types or attributes.
// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    func.call @divide(%x)
// CHECK-NEXT:    func.call @divide_1(%x)
// CHECK-NEXT:    func.call @limit(%n)
// CHECK-NEXT:    func.call @limit_1(%n)
// CHECK-NEXT:    func.call @add(%x)
// CHECK-NEXT:    func.call @add_1(%x)
// CHECK-NEXT:    func.return
func.func @refused(%x: tensor<4xf32>, %n: tensor<4xi32>) {
  %0 = func.call @divide(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @divide_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @limit(%n) : (tensor<4xi32>) -> tensor<4xi32>
  %3 = func.call @limit_1(%n) : (tensor<4xi32>) -> tensor<4xi32>
  %4 = func.call @add(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = func.call @add_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
func.func private @divide(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %c = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.divide(%p, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @divide_1(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %c = relay.constant dense<3.0> : tensor<f32>
  %0 = relay.divide(%p, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @limit(%p: tensor<4xi32>) -> tensor<4xi32> attributes {relay.primitive} {
  %c = relay.constant dense<2> : tensor<i32>
  %0 = relay.minimum(%p, %c) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}
func.func private @limit_1(%p: tensor<4xi32>) -> tensor<4xi32> attributes {relay.primitive} {
  %c = relay.constant dense<3> : tensor<i32>
  %0 = relay.minimum(%p, %c) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}
func.func private @add(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %c = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.add(%p, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @add_1(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %c = relay.constant dense<2.0> : tensor<1xf32>
  %0 = relay.add(%p, %c) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
