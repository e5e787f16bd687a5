// RUN: xrelay-opt %s -p relay-simplify-expr | filecheck %s

// A computed shape may be invalid, even if only the result's shape is valid.
// CHECK-LABEL: @computed_shape(
// CHECK:         relay.collapse_sum_to(%x, %s)
func.func @computed_shape(%x: tensor<2x1x1xf32>, %s: tensor<2xi32>) -> tensor<1x1xf32> {
  %a = relay.collapse_sum_to(%x, %s) {relay.binds = #relay.bounds<e, e_1>, relay.requires = #relay.requirements<1 >= e "C2 extents of the shape and of the data", e >= 1 "C2 extents of the shape and of the data", 1 >= e_1 "C2 extents of the shape and of the data", e_1 >= 1 "C2 extents of the shape and of the data">} : (tensor<2x1x1xf32>, tensor<2xi32>) -> tensor<1x1xf32>
  func.return %a : tensor<1x1xf32>
}

// The replacement has the op's requirements on named extents.
// CHECK-LABEL: @sum_with_zeros(
// CHECK-NEXT:    %[[Y:.*]] = relay.require(%x) {demands = #relay.requirements<broadcastable(4, n) "C2 extents">
// CHECK-NEXT:    func.return %[[Y]]
func.func @sum_with_zeros(%x: tensor<4xf32>, %z: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
  %a = relay.zeros_like(%z) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %b = relay.add(%x, %a) {relay.requires = #relay.requirements<broadcastable(4, n) "C2 extents">} : (tensor<4xf32>, tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// An op in between has requirements of its own.
// CHECK-LABEL: @reshaped(
// CHECK-NEXT:    relay.reshape_like(%x, %z)
// CHECK-NEXT:    relay.reshape
// CHECK-NEXT:    func.return
func.func @reshaped(%x: tensor<24xf32>, %z: tensor<?x4xf32, #relay.dims<n>>) -> tensor<24xf32> {
  %a = relay.reshape_like(%x, %z) {relay.requires = #relay.requirements<24 == 4 * n "C2 elements">} : (tensor<24xf32>, tensor<?x4xf32, #relay.dims<n>>) -> tensor<?x4xf32, #relay.dims<n>>
  %b = relay.reshape(%a) {newshape = [24], relay.requires = #relay.requirements<4 * n == 24 "C2 elements">} : (tensor<?x4xf32, #relay.dims<n>>) -> tensor<24xf32>
  func.return %b : tensor<24xf32>
}

// CHECK-LABEL: @blocked(
// CHECK-NEXT:    %[[Y:.*]] = relay.require(%x) {demands = #relay.requirements<
// CHECK-NEXT:    func.return %[[Y]]
func.func @blocked(%x: tensor<1x?x2xf32, #relay.dims<n>>) -> tensor<1x?x2xf32, #relay.dims<n>> {
  %a = relay.layout_transform(%x) {src_layout = "NCW", dst_layout = "NCW4c"} : (tensor<1x?x2xf32, #relay.dims<n>>) -> tensor<1x?x2x4xf32, #relay.dims<(n + 3) floordiv 4>>
  %b = relay.layout_transform(%a) {src_layout = "NCW4c", dst_layout = "NCW", relay.requires = #relay.requirements<4 * ((n + 3) floordiv 4) == n "C0 result extent">} : (tensor<1x?x2x4xf32, #relay.dims<(n + 3) floordiv 4>>) -> tensor<1x?x2xf32, #relay.dims<n>>
  func.return %b : tensor<1x?x2xf32, #relay.dims<n>>
}

// Subtraction of booleans is always an error.
// CHECK-LABEL: @booleans(
// CHECK:         relay.subtract
func.func @booleans(%x: tensor<4xi1>) -> tensor<4xi1> {
  %a = relay.constant dense<false> : tensor<i1>
  %b = relay.subtract(%x, %a) : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %b : tensor<4xi1>
}
