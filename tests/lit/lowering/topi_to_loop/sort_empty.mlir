// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// Without kept elements there is no work; unsigned integers are compared as unsigned.
// CHECK-LABEL: func.func private @none
// CHECK: loop.block "sort" () reads(%u)
// CHECK-NEXT:   loop.sort %u[] into {{.*}} {axis = 0 : i64, unsigned}
// CHECK-NOT: loop.sort
func.func private @none(%x: tensor<4x8xf32>, %u: tensor<8xui8>) -> (tensor<4x0xf32>, tensor<8xi64>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4x0xf32>, tensor<4x0xi64>)
  %w, %j = topi.sort(%u) {axis = 0 : i64} : (tensor<8xui8>) -> (tensor<8xui8>, tensor<8xi64>)
  func.return %v, %j : tensor<4x0xf32>, tensor<8xi64>
}
