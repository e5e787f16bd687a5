// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// The last product and the sum may be rounded together.
// CHECK-LABEL: func.func private @three
// CHECK:         %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         %[[Q:.*]] = arith.mulf %[[P]], %{{.*}} fastmath<contract> : f32
// CHECK-NEXT:    arith.addf %acc, %[[Q]] fastmath<reassoc,contract> : f32
func.func private @three(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>, %c: tensor<8xf32>) -> tensor<4x3xf32> attributes {relay.primitive} {
  %t = relay.tuple(%a, %b, %c) : (tensor<4x8xf32>, tensor<8x3xf32>, tensor<8xf32>) -> tuple<tensor<4x8xf32>, tensor<8x3xf32>, tensor<8xf32>>
  %y = relay.einsum(%t) {equation = "ij,jk,j->ik"} : (tuple<tensor<4x8xf32>, tensor<8x3xf32>, tensor<8xf32>>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func private @outer
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-LABEL: func.func private @trace
// CHECK:         arith.addf %acc, %{{.*}} fastmath<reassoc> : f32
func.func private @outer(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> attributes {relay.primitive} {
  %t = relay.tuple(%a, %b) : (tensor<4xf32>, tensor<3xf32>) -> tuple<tensor<4xf32>, tensor<3xf32>>
  %y = relay.einsum(%t) {equation = "i,j->ij"} : (tuple<tensor<4xf32>, tensor<3xf32>>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

func.func private @trace(%a: tensor<4x4xf32>) -> tensor<f32> attributes {relay.primitive} {
  %t = relay.tuple(%a) : (tensor<4x4xf32>) -> tuple<tensor<4x4xf32>>
  %y = relay.einsum(%t) {equation = "ii->"} : (tuple<tensor<4x4xf32>>) -> tensor<f32>
  func.return %y : tensor<f32>
}
