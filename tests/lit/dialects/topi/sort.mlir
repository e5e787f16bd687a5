// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @sort
// CHECK-NEXT: %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<4x10xf32>) -> (tensor<4x10xf32>, tensor<4x10xi64>)
// CHECK-NEXT: %w, %j = topi.sort(%x) {axis = 1 : i64, descending} : (tensor<4x10xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
// CHECK-NEXT: %e, %k = topi.sort(%u) {axis = 0 : i64} : (tensor<0xui8>) -> (tensor<0xui8>, tensor<0xi64>)
func.func @sort(%x: tensor<4x10xf32>, %u: tensor<0xui8>) {
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<4x10xf32>) -> (tensor<4x10xf32>, tensor<4x10xi64>)
  %w, %j = topi.sort(%x) {axis = 1 : i64, descending} : (tensor<4x10xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  %e, %k = topi.sort(%u) {axis = 0 : i64} : (tensor<0xui8>) -> (tensor<0xui8>, tensor<0xi64>)
  func.return
}
