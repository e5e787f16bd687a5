// RUN: xrelay-opt %s -p relay-to-basic-block-normal-form,relay-check-basic-block-normal-form | filecheck %s

// A requirement on an extent uses the op that binds the extent's name: %x stays, although one branch uses its value.
// CHECK-LABEL: func.func @named_outside
// CHECK-NEXT:    %[[X:.*]] = relay.closure_captured(%f)
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.sum(%[[X]])
// CHECK:         relay.require(
func.func @named_outside(%f: !relay.closure, %c: tensor<i1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
      : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %a = relay.sum(%x) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    %b = relay.max(%y) : (tensor<4xf32>) -> tensor<f32>
    relay.yield %b : tensor<f32>
  }
  %s = relay.add(%y, %r) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = relay.require(%s) {demands = #relay.requirements<d >= 1 "C2 rows">, relay.requires = #relay.requirements<d >= 1 "C2 rows">}
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// A requirement that a single branch uses moves there with the op that binds the extent's name, used or not.
// CHECK-LABEL: func.func @named_in_a_branch
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.closure_captured(%f)
// CHECK-NEXT:      relay.require(%y)
func.func @named_in_a_branch(%f: !relay.closure, %c: tensor<i1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
      : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
  %t = relay.require(%y) {demands = #relay.requirements<d >= 1 "C2 rows">, relay.requires = #relay.requirements<d >= 1 "C2 rows">}
      : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %t : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// Two branches bind the same name: a use of the name in one branch does not depend on the op in the other branch.
// CHECK-LABEL: func.func @same_name_elsewhere
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[X:.*]] = relay.closure_captured(%f)
// CHECK-NEXT:      relay.sum(%[[X]])
// CHECK:         relay.if %c
// CHECK-NEXT:      relay.closure_captured(%f)
func.func @same_name_elsewhere(%f: !relay.closure, %c: tensor<i1>, %z: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
        : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
    %a = relay.sum(%x) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  %s = relay.if %c : tensor<i1> -> tensor<f32> {
    %y = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
        : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
    %b = relay.max(%y) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    relay.yield %b : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  func.return %r, %s : tensor<f32>, tensor<f32>
}
