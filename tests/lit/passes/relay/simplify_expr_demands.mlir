// RUN: xrelay-opt %s -p relay-simplify-expr | filecheck %s

// A shape that is computed may be a wrong one, even where no other than that of the result is right.
// CHECK-LABEL: @computed_shape(
// CHECK:         relay.collapse_sum_to(%x, %s)
func.func @computed_shape(%x: tensor<2x1x1xf32>, %s: tensor<2xi32>) -> tensor<1x1xf32> {
  %a = relay.collapse_sum_to(%x, %s) {relay.binds = #relay.bounds<e, e_1>, relay.requires = #relay.requirements<1 >= e "C2 extents of the shape and of the data", e >= 1 "C2 extents of the shape and of the data", 1 >= e_1 "C2 extents of the shape and of the data", e_1 >= 1 "C2 extents of the shape and of the data">} : (tensor<2x1x1xf32>, tensor<2xi32>) -> tensor<1x1xf32>
  func.return %a : tensor<1x1xf32>
}
