// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s --check-prefix=TYPED

// Names are kept; inference adds missing ones.
// CHECK-LABEL: @extents(
// TYPED-LABEL: @extents(
func.func @extents(%s: tensor<2xi64>, %n: tensor<i32>, %f: tensor<f32>) -> (!relay.incomplete, tensor<i32>) {
  // CHECK: relay.extents(%s) {relay.binds = #relay.bounds<p, q>} : (tensor<2xi64>) -> tensor<2xi64>
  // TYPED: relay.extents(%s) {relay.binds = #relay.bounds<p, q>} : (tensor<2xi64>) -> tensor<2xi64>
  %v = relay.extents(%s) {relay.binds = #relay.bounds<p, q>} : (tensor<2xi64>) -> tensor<2xi64>
  // TYPED: relay.dyn.full(%f, %v) : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<p, q>>
  %y = relay.dyn.full(%f, %v) : (tensor<f32>, tensor<2xi64>) -> !relay.incomplete
  // CHECK: relay.extents(%n) : (tensor<i32>) -> tensor<i32>
  // TYPED: relay.extents(%n) {relay.binds = #relay.bounds<e>} : (tensor<i32>) -> tensor<i32>
  %w = relay.extents(%n) : (tensor<i32>) -> tensor<i32>
  func.return %y, %w : !relay.incomplete, tensor<i32>
}

// CHECK-LABEL: @cut(
// TYPED-LABEL: @cut(
func.func @cut(%x: tensor<8x2xi32>, %n: tensor<i64>) -> (tensor<?x2xi32, #relay.dims<j>>, !relay.incomplete) {
  // CHECK: relay.cut(%x, %n) {relay.binds = #relay.bounds<j <= 8>} : (tensor<8x2xi32>, tensor<i64>) -> tensor<?x2xi32, #relay.dims<j>>
  // TYPED: relay.cut(%x, %n) {relay.binds = #relay.bounds<j <= 8>} : (tensor<8x2xi32>, tensor<i64>) -> tensor<?x2xi32, #relay.dims<j>>
  %a = relay.cut(%x, %n) {relay.binds = #relay.bounds<j <= 8>} : (tensor<8x2xi32>, tensor<i64>) -> tensor<?x2xi32, #relay.dims<j>>
  // CHECK: relay.cut(%x, %n) {axis = -1} : (tensor<8x2xi32>, tensor<i64>) -> !relay.incomplete
  // TYPED: relay.cut(%x, %n) {axis = -1, relay.binds = #relay.bounds<k <= 2>} : (tensor<8x2xi32>, tensor<i64>) -> tensor<8x?xi32, #relay.dims<k>>
  %b = relay.cut(%x, %n) {axis = -1} : (tensor<8x2xi32>, tensor<i64>) -> !relay.incomplete
  func.return %a, %b : tensor<?x2xi32, #relay.dims<j>>, !relay.incomplete
}
