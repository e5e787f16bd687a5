// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @positions
// CHECK-NEXT: %p, %n = topi.positions(%m) : (tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>)
// CHECK-NEXT: %q, %k = topi.positions(%s) : (tensor<i1>) -> (tensor<1xi64>, tensor<i64>)
func.func @positions(%m: tensor<4x5xi1>, %s: tensor<i1>) {
  %p, %n = topi.positions(%m) : (tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>)
  %q, %k = topi.positions(%s) : (tensor<i1>) -> (tensor<1xi64>, tensor<i64>)
  func.return
}
