// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// A fold along contiguous elements takes two passes in lanes: the greatest element, then its least index.
// CHECK-LABEL: func.func private @long_rows
// CHECK-SAME: argmax.two_folds
// CHECK-NEXT: topi.compute "extreme" [%i0 : 4] reduce [%k1 : 64] init [%acc = 0xff800000 : f32] : tensor<4xf32>
// CHECK: topi.compute "argmax" [%i0 : 4] reduce [%k1 : 64] init [%acc = 2147483646 : i32] : tensor<4xi32>
// CHECK: arith.minsi
func.func private @long_rows(%x: tensor<4x64xf32>) -> tensor<4xi32> attributes {relay.primitive} {
  %y = relay.argmax(%x) {axis = [1]} : (tensor<4x64xf32>) -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// Rows of dynamic length are long.
// CHECK-LABEL: func.func private @dynamic_rows
// CHECK-SAME: argmax.two_folds
func.func private @dynamic_rows(%x: tensor<4x?xf32, #relay.dims<n>>) -> tensor<4xi32> attributes {relay.primitive} {
  %y = relay.argmax(%x) {axis = [1]} : (tensor<4x?xf32, #relay.dims<n>>) -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// A fold along another axis keeps value and index in lanes, and reads memory once.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: argmin.generic
// CHECK-NEXT: topi.compute "argmin" [%i0 : 64] reduce [%k0 : 4] init [%acc = 0x7f800000 : f32, %acc_1 = 0 : i32] : tensor<64xf32>, tensor<64xi32>
func.func private @columns(%x: tensor<4x64xf32>) -> tensor<64xi32> attributes {relay.primitive} {
  %y = relay.argmin(%x) {axis = [0]} : (tensor<4x64xf32>) -> tensor<64xi32>
  func.return %y : tensor<64xi32>
}

// CHECK-LABEL: func.func private @sums
// CHECK: topi.scan "cumsum" [%i0 : 4, %i1 : 8] along %i1 exclusive init [%acc = 0.000000e+00 : f32] : tensor<4x8xf32>
func.func private @sums(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {relay.primitive} {
  %y = relay.cumsum(%x) {axis = -1, exclusive = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
