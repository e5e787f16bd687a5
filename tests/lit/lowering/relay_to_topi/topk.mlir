// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// For contiguous rows two elements and their indices are kept in lanes; the fourth condition: no element is kept yet.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: topk.fold
// CHECK-NEXT: topi.compute "topk" [%i0 : 4, %i1 : 64] reduce [%k : 9] init [%acc = 0.000000e+00 : f32, %acc_1 = 0.000000e+00 : f32, %acc_2 = 0 : i32, %acc_3 = 0 : i32]
// CHECK: topi.read %x[%i0, %k, %i1]
// CHECK: arith.cmpf ult, %acc, %{{.*}}
// CHECK: arith.cmpi sle
// CHECK: topi.yield {{.*}} : f32, f32, i32, i32
// CHECK: topi.compute "values" [%i0 : 4, %i1 : 2, %i2 : 64] : tensor<4x2x64xf32>
// CHECK: topi.compute "places" [%i0 : 4, %i1 : 2, %i2 : 64] : tensor<4x2x64xi64>
func.func private @columns(%x: tensor<4x9x64xf32>) -> (tensor<4x2x64xf32>, tensor<4x2x64xi64>) attributes {relay.primitive} {
  %t = relay.topk(%x) {k = 2, axis = 1, dtype = i64} : (tensor<4x9x64xf32>) -> tuple<tensor<4x2x64xf32>, tensor<4x2x64xi64>>
  %v = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<4x2x64xf32>, tensor<4x2x64xi64>>) -> tensor<4x2x64xf32>
  %i = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4x2x64xf32>, tensor<4x2x64xi64>>) -> tensor<4x2x64xi64>
  func.return %v, %i : tensor<4x2x64xf32>, tensor<4x2x64xi64>
}

// An axis of a named extent has indices of i64. Only the values are results.
// CHECK-LABEL: func.func private @named
// CHECK-NEXT: topi.compute "topk" [%i0 : 16] reduce [%k : n] init [%acc = 0 : i8, %acc_1 = 0 : i64]
// CHECK: arith.cmpi ult
// CHECK: topi.compute "values"
// CHECK-NOT: topi.compute
// CHECK: func.return
func.func private @named(%x: tensor<?x16xui8, #relay.dims<n>>) -> tensor<1x16xui8> attributes {relay.primitive} {
  %v = relay.topk(%x) {axis = 0, ret_type = "values", is_ascend = true} : (tensor<?x16xui8, #relay.dims<n>>) -> tensor<1x16xui8>
  func.return %v : tensor<1x16xui8>
}

// A sort is used for few rows, or for many kept elements.
// CHECK-LABEL: func.func private @few
// CHECK-SAME: topk.generic
// CHECK-NEXT: topi.sort
func.func private @few(%x: tensor<64x7xf32>) -> tensor<2x7xf32> attributes {relay.primitive} {
  %v = relay.topk(%x) {k = 2, axis = 0, ret_type = "values"} : (tensor<64x7xf32>) -> tensor<2x7xf32>
  func.return %v : tensor<2x7xf32>
}

// CHECK-LABEL: func.func private @many
// CHECK-NEXT: topi.sort
func.func private @many(%x: tensor<64x64xf32>) -> tensor<9x64xf32> attributes {relay.primitive} {
  %v = relay.topk(%x) {k = 9, axis = 0, ret_type = "values"} : (tensor<64x64xf32>) -> tensor<9x64xf32>
  func.return %v : tensor<9x64xf32>
}
