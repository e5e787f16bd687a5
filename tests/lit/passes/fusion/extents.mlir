// RUN: xrelay-opt %s -p relay-to-basic-block-normal-form,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi | filecheck %s

// Ops that bind extents are between the calls of kernels, and nothing fuses across them.
// CHECK-LABEL: @main(
// CHECK: %[[S:.*]] = func.call @fused_add(%s)
// CHECK: %[[V:.*]] = relay.extents(%[[S]]) {relay.binds = #relay.bounds<p>}
// CHECK: %[[Y:.*]] = func.call @fused_dyn_full(%[[V]])
// CHECK: %[[K:.*]] = relay.cut(%[[Y]], %n) {relay.binds = #relay.bounds<k <= p>}
// CHECK: %[[R:.*]] = func.call @fused_exp(%[[K]])
// A returned value has its own buffer.
// CHECK: %[[C:.*]] = func.call @fused_cast(%[[K]])
// CHECK: func.return %[[R]], %[[C]]
func.func @main(%s: tensor<1xi64>, %n: tensor<i64>) -> (tensor<?xf32, #relay.dims<k>>, tensor<?xf32, #relay.dims<k>>) {
  %one = relay.constant dense<1> : tensor<i64>
  %f = relay.constant dense<1.0> : tensor<f32>
  %t = relay.add(%s, %one) : (tensor<1xi64>, tensor<i64>) -> tensor<1xi64>
  %v = relay.extents(%t) {relay.binds = #relay.bounds<p>} : (tensor<1xi64>) -> tensor<1xi64>
  %y = relay.dyn.full(%f, %v) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<p>>
  %k = relay.cut(%y, %n) {relay.binds = #relay.bounds<k <= p>} : (tensor<?xf32, #relay.dims<p>>, tensor<i64>) -> tensor<?xf32, #relay.dims<k>>
  %r = relay.exp(%k) : (tensor<?xf32, #relay.dims<k>>) -> tensor<?xf32, #relay.dims<k>>
  func.return %r, %k : tensor<?xf32, #relay.dims<k>>, tensor<?xf32, #relay.dims<k>>
}

// Names bound in a branch are local to it.
// CHECK-LABEL: @branch(
// CHECK: relay.if
// CHECK-NEXT: %[[W:.*]] = relay.extents(%s) {relay.binds = #relay.bounds<p>}
// CHECK-NEXT: func.call @fused_dyn_full{{(_[0-9])?}}(%[[W]])
// CHECK-NEXT: relay.yield
func.func @branch(%s: tensor<1xi64>, %c: tensor<i1>, %x: tensor<3xf32>) -> tensor<?xf32, #relay.dims<d>> {
  %f = relay.constant dense<1.0> : tensor<f32>
  %v = relay.extents(%s) {relay.binds = #relay.bounds<p>} : (tensor<1xi64>) -> tensor<1xi64>
  %y = relay.dyn.full(%f, %v) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<p>>
  %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<d>> attributes {relay.binds = #relay.bounds<d>} {
    relay.yield %y : tensor<?xf32, #relay.dims<p>>
  } else {
    relay.yield %x : tensor<3xf32>
  }
  func.return %r : tensor<?xf32, #relay.dims<d>>
}
