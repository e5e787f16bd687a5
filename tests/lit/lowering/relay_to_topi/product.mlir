// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// The factors of a product are multiplied in any order, so that they are vectorized like the terms of a sum.
// CHECK-LABEL: func.func private @factors
// CHECK: arith.mulf %acc, %{{.*}} fastmath<reassoc> : f32
func.func private @factors(%x: tensor<4x64xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %y = relay.prod(%x) {axis = [1]} : (tensor<4x64xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @integers
// CHECK: arith.muli %acc, %{{.*}} : i32
func.func private @integers(%x: tensor<4x64xi32>) -> tensor<4xi32> attributes {relay.primitive} {
  %y = relay.prod(%x) {axis = [1]} : (tensor<4x64xi32>) -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}
