// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s --check-prefix=TYPED

// CHECK-LABEL: @closures(
func.func @closures(%x: tensor<?xf32, #relay.dims<n>>) -> (!relay.incomplete, !relay.incomplete, !relay.incomplete) {
  // CHECK: %f = relay.closure_construct(%x) {number = 3} : (tensor<?xf32, #relay.dims<n>>) -> !relay.closure
  %f = relay.closure_construct(%x) {number = 3} : (tensor<?xf32, #relay.dims<n>>) -> !relay.closure
  // TYPED: %g = relay.closure_construct(%f) {number = 0} : (!relay.closure) -> !relay.closure
  %g = relay.closure_construct(%f) {number = 0} : (!relay.closure) -> !relay.incomplete
  // TYPED: relay.closure_number(%g) : (!relay.closure) -> tensor<i64>
  %n = relay.closure_number(%g) : (!relay.incomplete) -> !relay.incomplete
  // TYPED: relay.closure_captured(%g) {index = 0, of = !relay.closure} : (!relay.closure) -> !relay.closure
  %h = relay.closure_captured(%g) {index = 0, of = !relay.closure} : (!relay.incomplete) -> !relay.incomplete
  // The extents of captured values are known only at run time.
  // CHECK: relay.closure_captured(%h) {index = 0, of = tensor<?xf32>}
  // TYPED: relay.closure_captured(%h) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d0>} : (!relay.closure) -> tensor<?xf32, #relay.dims<d0>>
  %y = relay.closure_captured(%h) {index = 0, of = tensor<?xf32>} : (!relay.incomplete) -> !relay.incomplete
  func.return %n, %h, %y : !relay.incomplete, !relay.incomplete, !relay.incomplete
}
