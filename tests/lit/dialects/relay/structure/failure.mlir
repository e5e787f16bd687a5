// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s --check-prefix=TYPED

// Names of the program are kept, and each ? is an extent that the op defines.
// CHECK-LABEL: @fail(
func.func @fail(%x: tensor<?x4xf32, #relay.dims<n>>, %c: tensor<i1>) -> (!relay.incomplete, !relay.incomplete) {
  // TYPED: %y = relay.if %c : tensor<i1> -> tensor<?x4xf32, #relay.dims<n>> {
  %y = relay.if %c : tensor<i1> -> !relay.incomplete {
    // CHECK: %f = relay.fail() {message = "no value", of = tensor<?x4xf32, #relay.dims<n>>} : () -> !relay.incomplete
    %f = relay.fail() {message = "no value", of = tensor<?x4xf32, #relay.dims<n>>} : () -> !relay.incomplete
    relay.yield %f : !relay.incomplete
  } else {
    relay.yield %x : tensor<?x4xf32, #relay.dims<n>>
  }
  // TYPED: relay.fail() {message = "none", of = tensor<?x4xf32>, relay.binds = #relay.bounds<d0>} : () -> tensor<?x4xf32, #relay.dims<d0>>
  %g = relay.fail() {message = "none", of = tensor<?x4xf32>} : () -> !relay.incomplete
  func.return %y, %g : !relay.incomplete, !relay.incomplete
}
