// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// An assertion that always fails, and a placeholder for each kind of value.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> (tensor<?xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<d>>, !relay.optional<tensor<*xf32>>) {
  // CHECK: %[[NEVER:.*]] = arith.constant false
  // CHECK: cf.assert %[[NEVER]], "relay.fail: no value"
  %f = relay.fail() {message = "no value", of = tensor<?xf32, #relay.dims<n>>} : () -> tensor<?xf32, #relay.dims<n>>
  // CHECK: cf.assert %{{.*}}, "relay.fail: an extent"
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: memref.alloc(%[[ZERO]]) : memref<?x2xf32>
  %g = relay.fail() {message = "an extent", of = tensor<?x2xf32>, relay.binds = #relay.bounds<d>} : () -> tensor<?x2xf32, #relay.dims<d>>
  // CHECK: cf.assert %{{.*}}, "relay.fail: a list"
  // CHECK: loop.list_empty : !loop.list<f32>
  %o = relay.fail() {message = "a list", of = !relay.optional<tensor<*xf32>>} : () -> !relay.optional<tensor<*xf32>>
  func.return %f, %g, %o : tensor<?xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<d>>, !relay.optional<tensor<*xf32>>
}
