// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @sums
// CHECK-NEXT: %r = topi.scan "cumsum" [%i : 4, %k : 8] along %k init [%acc = 0.000000e+00 : f32] : tensor<4x8xf32> {
// CHECK-NEXT:   %a = topi.read %x[%i, %k] : tensor<4x8xf32>
// CHECK-NEXT:   %s = arith.addf %acc, %a : f32
// CHECK-NEXT:   topi.yield %s : f32
// CHECK-NEXT: }
func.func @sums(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = topi.scan "cumsum" [%i : 4, %k : 8] along %k init [%acc = 0.0 : f32] : tensor<4x8xf32> {
    %a = topi.read %x[%i, %k] : tensor<4x8xf32>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<4x8xf32>
}

// Two values are carried, backwards, and the results are exclusive.
// CHECK-LABEL: func.func @two
// CHECK-NEXT: %a, %b = topi.scan "fibonacci" [%k : 8, %i : 2] along %k reverse exclusive init [%p = 0 : i64, %q = 1 : i64] : tensor<8x2xi64>, tensor<8x2xi64> attributes {note = "kept"} {
// CHECK-NEXT:   %s = arith.addi %p, %q : i64
// CHECK-NEXT:   topi.yield %q, %s : i64, i64
func.func @two() -> (tensor<8x2xi64>, tensor<8x2xi64>) {
  %a, %b = topi.scan "fibonacci" [%k : 8, %i : 2] along %k reverse exclusive init [%p = 0 : i64, %q = 1 : i64] : tensor<8x2xi64>, tensor<8x2xi64> attributes {note = "kept"} {
    %s = arith.addi %p, %q : i64
    topi.yield %q, %s : i64, i64
  }
  func.return %a, %b : tensor<8x2xi64>, tensor<8x2xi64>
}

// Extents in the generic form may be of any width.
// CHECK-LABEL: func.func @narrow
// CHECK-NEXT: %r = topi.scan "c" [%i : 4] along %i init [%a = 0.000000e+00 : f32] : tensor<4xf32> {
func.func @narrow() -> tensor<4xf32> {
  %r = "topi.scan"() <{label = "c", extents = array<i7: 4>, axis = 0 : i64, init = [0.0 : f32]}> ({
  ^bb0(%i: index, %a: f32):
    topi.yield %a : f32
  }) : () -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
