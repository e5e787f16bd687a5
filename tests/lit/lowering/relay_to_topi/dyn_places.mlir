// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// Both ends of a slice and its step are checked once per axis; then a position is a product.
// CHECK-LABEL: @slice
func.func private @slice(%x: tensor<?x3xf32, #relay.dims<n>>, %b: tensor<1xi64>, %e: tensor<1xi64>, %s: tensor<1xi64>)
    -> tensor<?x3xf32, #relay.dims<k>> attributes {relay.primitive} {
  // CHECK: %[[PLACES:.*]] = topi.compute "slice_places" [%k : 3] : tensor<3xindex> {
  // CHECK-NEXT: topi.read %b[0]
  // CHECK-NEXT: topi.read %s[0]
  // CHECK-NEXT: topi.index [k - 1]
  // CHECK: topi.checked_index %{{.*}} of max(1, n){{$}}
  // CHECK: topi.compute "dyn_strided_slice" [%i0 : k, %i1 : 3]
  // CHECK-NEXT: %[[AT:.*]] = topi.read %[[PLACES]][0]
  // CHECK: %[[STEP:.*]] = arith.index_cast %{{.*}} : i64 to index
  // CHECK: topi.read %x[%i0 * %[[STEP]] + %[[AT]], %i1]
  %y = relay.dyn.strided_slice(%x, %b, %e, %s) {slice_mode = "size"} : (tensor<?x3xf32, #relay.dims<n>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32, #relay.dims<k>>
  func.return %y : tensor<?x3xf32, #relay.dims<k>>
}

// Both widths are checked, also the width at the end, which no read depends on.
// CHECK-LABEL: @pad
func.func private @pad(%x: tensor<?xf32, #relay.dims<n>>, %w: tensor<1x2xi64>, %v: tensor<f32>)
    -> tensor<?xf32, #relay.dims<p>> attributes {relay.primitive} {
  // CHECK: %[[W:.*]] = topi.compute "indices" [%k0 : 2] : tensor<2xindex> {
  // CHECK: topi.checked_index %{{.*}} of p + 1{{$}}
  // CHECK: topi.compute "nn_pad" [%i0 : p]
  // CHECK-NEXT: %[[BEFORE:.*]] = topi.read %[[W]][0]
  // CHECK-NEXT: topi.in_bounds [%i0 - %[[BEFORE]]] of [n]
  %y = relay.dyn.nn.pad(%x, %w, %v) : (tensor<?xf32, #relay.dims<n>>, tensor<1x2xi64>, tensor<f32>) -> tensor<?xf32, #relay.dims<p>>
  func.return %y : tensor<?xf32, #relay.dims<p>>
}

// Mirrors of n elements reach n - 1 positions.
// CHECK-LABEL: @mirror
func.func private @mirror(%x: tensor<?xf32, #relay.dims<n>>, %w: tensor<1x2xi64>, %v: tensor<f32>)
    -> tensor<?xf32, #relay.dims<p>> attributes {relay.primitive} {
  // CHECK: topi.checked_index %{{.*}} of max(1, n){{$}}
  %y = relay.dyn.nn.pad(%x, %w, %v) {pad_mode = "reflect"} : (tensor<?xf32, #relay.dims<n>>, tensor<1x2xi64>, tensor<f32>) -> tensor<?xf32, #relay.dims<p>>
  func.return %y : tensor<?xf32, #relay.dims<p>>
}

// CHECK-LABEL: @tile
func.func private @tile(%x: tensor<3xf32>, %r: tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<p, q>> attributes {relay.primitive} {
  // CHECK: topi.read %x[%i1 mod 3]
  %y = relay.dyn.tile(%x, %r) : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<p, q>>
  func.return %y : tensor<?x?xf32, #relay.dims<p, q>>
}

// CHECK-LABEL: @topk
func.func private @topk(%x: tensor<2x9xf32>, %k: tensor<1xi64>) -> tensor<2x?xf32, #relay.dims<k>> attributes {relay.primitive} {
  // CHECK: topi.sort(%x) {axis = 1 : i64, descending} : (tensor<2x9xf32>) -> (tensor<2x?xf32, #relay.dims<k>>, tensor<2x?xi64, #relay.dims<k>>)
  %y = relay.dyn.topk(%x, %k) {ret_type = "values"} : (tensor<2x9xf32>, tensor<1xi64>) -> tensor<2x?xf32, #relay.dims<k>>
  func.return %y : tensor<2x?xf32, #relay.dims<k>>
}
