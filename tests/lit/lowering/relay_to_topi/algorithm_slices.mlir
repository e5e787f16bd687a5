// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// The slices at the positions where the condition is true, and their number.
// CHECK-LABEL: func.func private @compress
// CHECK-SAME:    -> (tensor<4x3xf32>, tensor<i64>)
// CHECK:         %[[AT:.*]], %[[N:.*]] = topi.positions(%c) : (tensor<3xi1>) -> (tensor<3xi64>, tensor<i64>)
// CHECK:         topi.compute "compress" [%{{.*}} : 4, %[[J:.*]] : 3]
// CHECK:           topi.guard
func.func private @compress(%x: tensor<4x8xf32>, %c: tensor<3xi1>) -> tensor<4x?xf32> attributes {relay.primitive} {
  %y = relay.compress(%x, %c) {axis = 1} : (tensor<4x8xf32>, tensor<3xi1>) -> tensor<4x?xf32>
  func.return %y : tensor<4x?xf32>
}

// Each row is compared with all others, column by column; the last column compares their order.
// CHECK-LABEL: func.func private @ranks
// CHECK:         topi.compute "rank_rows" [%{{.*}} : 4] reduce [%{{.*}} : 8] init [%{{.*}} = 0 : i32, %{{.*}} = 0 : i32]
func.func private @ranks(%x: tensor<4x2xf32>) -> tensor<4xi32> attributes {relay.primitive} {
  %y = relay.rank_rows(%x) : (tensor<4x2xf32>) -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}
