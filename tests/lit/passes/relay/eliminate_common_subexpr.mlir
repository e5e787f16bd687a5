// RUN: xrelay-opt %s -p relay-eliminate-common-subexpr | filecheck %s

// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %[[A:.*]] = relay.add(%x, %y)
// CHECK-NEXT:    %[[R:.*]] = relay.multiply(%[[A]], %[[A]])
// CHECK-NEXT:    func.return %[[R]]
func.func @twice(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.multiply(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Equal constants and fields are merged; a branch uses equal ops from outside, not those of the other branch.
// CHECK-LABEL: func.func @branches
// CHECK:         %[[K:.*]] = relay.constant
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      %[[S:.*]] = relay.add(%[[E]], %[[K]])
// CHECK-NEXT:      relay.yield %[[S]]
// CHECK:           %[[T:.*]] = relay.add(%[[E]], %[[K]])
// CHECK-NEXT:      relay.yield %[[T]]
func.func @branches(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> attributes {relay.form = "bbnf"} {
  %k = relay.constant dense<1.0> : tensor<f32>
  %e = relay.exp(%x) : (tensor<f32>) -> tensor<f32>
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %k2 = relay.constant dense<1.0> : tensor<f32>
    %f = relay.exp(%x) : (tensor<f32>) -> tensor<f32>
    %s = relay.add(%f, %k2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    %t = relay.add(%e, %k) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %t : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// Different: other attributes, another order of operands, bindings and walls.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-2: relay.nn.softmax
// CHECK-COUNT-2: relay.add
// CHECK-COUNT-2: relay.let
// CHECK-COUNT-2: relay.annotation.stop_fusion
func.func @different(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tuple<tensor<4x4xf32>, tensor<4x4xf32>> {
  %a = relay.nn.softmax(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.nn.softmax(%x) {axis = 0} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.add(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = relay.add(%b, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = relay.let "v" = %c : tensor<4x4xf32>
  %w = relay.let "v" = %c : tensor<4x4xf32>
  %s = relay.annotation.stop_fusion(%d) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = relay.annotation.stop_fusion(%d) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = relay.multiply(%v, %s) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = relay.multiply(%w, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = relay.tuple(%m, %n) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tuple<tensor<4x4xf32>, tensor<4x4xf32>>
  func.return %r : tuple<tensor<4x4xf32>, tensor<4x4xf32>>
}

// Also different: ops that bind other names.
// CHECK-LABEL: func.func @names
// CHECK-COUNT-2: relay.extents
func.func @names(%s: tensor<1xi64>, %x: tensor<f32>) -> (tensor<?xf32, #relay.dims<p>>, tensor<?xf32, #relay.dims<q>>) {
  %v = relay.extents(%s) {relay.binds = #relay.bounds<p>} : (tensor<1xi64>) -> tensor<1xi64>
  %w = relay.extents(%s) {relay.binds = #relay.bounds<q>} : (tensor<1xi64>) -> tensor<1xi64>
  %0 = relay.dyn.full(%x, %v) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<p>>
  %1 = relay.dyn.full(%x, %w) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<q>>
  func.return %0, %1 : tensor<?xf32, #relay.dims<p>>, tensor<?xf32, #relay.dims<q>>
}
