// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// A mask without elements has no positions.
// CHECK-LABEL: func.func private @nothing
// CHECK-NEXT: loop.block "positions" () writes(%n) {
// CHECK-NEXT:   %0 = arith.constant 0 : i64
// CHECK-NEXT:   loop.store %0, %n[] : memref<i64>
func.func private @nothing(%m: tensor<0xi1>) -> (tensor<0xi64>, tensor<i64>) attributes {relay.primitive} {
  %p, %n = topi.positions(%m) : (tensor<0xi1>) -> (tensor<0xi64>, tensor<i64>)
  func.return %p, %n : tensor<0xi64>, tensor<i64>
}
