// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p canonicalize,cse,dce | filecheck %s --check-prefix CLEAN

// Names inside a body are local: both computes have %n.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %a = topi.compute "double" [%n : 2, %c : 3] : tensor<2x3xf32> {
// CHECK-NEXT:   %v = topi.read %x[%n, %c] : tensor<2x3xf32>
// CHECK-NEXT:   %s = arith.addf %v, %v : f32
// CHECK-NEXT:   topi.yield %s : f32
// CHECK-NEXT: }
// CHECK-NEXT: %b = topi.compute "shift" [%n : 2, %c : 2] : tensor<2x2xf32> attributes {note = "kept"} {
// CHECK-NEXT:   %v = topi.read %a[%n, %c + 1] : tensor<2x3xf32>
func.func @twice(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %a = topi.compute "double" [%n : 2, %c : 3] : tensor<2x3xf32> {
    %v = topi.read %x[%n, %c] : tensor<2x3xf32>
    %s = arith.addf %v, %v : f32
    topi.yield %s : f32
  }
  %b = topi.compute "shift" [%n : 2, %c : 2] : tensor<2x2xf32> attributes {note = "kept"} {
    %v = topi.read %a[%n, 1 + %c] : tensor<2x3xf32>
    topi.yield %v : f32
  }
  func.return %b : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @conv
// CHECK: topi.compute "conv2d" [%n : 1, %c : 2, %h : 2] reduce [%k : 3, %y : 3] init [%acc = 0.000000e+00 : f32] : tensor<1x2x2xf32> {
// CHECK-NEXT: %in = topi.in_bounds [%h * 2 + %y - 1] of [6]
// CHECK-NEXT: %p = topi.guard (%in) -> f32 {
// CHECK-NEXT: %a = topi.read %x[%n, %k, %h * 2 + %y - 1] : tensor<1x3x6xf32>
// CHECK-NEXT: topi.yield %a : f32
// CHECK-NEXT: } else {
// CHECK: topi.yield %s : f32
func.func @conv(%x: tensor<1x3x6xf32>, %w: tensor<2x3x3xf32>) -> tensor<1x2x2xf32> {
  %r = topi.compute "conv2d" [%n : 1, %c : 2, %h : 2] reduce [%k : 3, %y : 3] init [%acc = 0.0 : f32] : tensor<1x2x2xf32> {
    %in = topi.in_bounds [%h * 2 + %y - 1] of [6]
    %p = topi.guard (%in) -> f32 {
      %a = topi.read %x[%n, %k, %h * 2 + %y - 1] : tensor<1x3x6xf32>
      topi.yield %a : f32
    } else {
      %zero = arith.constant 0.0 : f32
      topi.yield %zero : f32
    }
    %b = topi.read %w[%c, %k, %y] : tensor<2x3x3xf32>
    %m = arith.mulf %p, %b : f32
    %s = arith.addf %acc, %m : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<1x2x2xf32>
}

// Two accumulators make two results.
// CHECK-LABEL: func.func @argmax
// CHECK: %v, %i = topi.compute "argmax" [%r : 4] reduce [%k : 8] init [%m = 0xff800000 : f32, %at = 0 : i64] : tensor<4xf32>, tensor<4xi64> {
// CHECK: %ki = topi.index [%k]
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %v, %i = topi.compute "argmax" [%r : 4] reduce [%k : 8] init [%m = 0xff800000 : f32, %at = 0 : i64] : tensor<4xf32>, tensor<4xi64> {
    %a = topi.read %x[%r, %k] : tensor<4x8xf32>
    %p = arith.cmpf ogt, %a, %m : f32
    %ki = topi.index [%k]
    %kc = arith.index_cast %ki : index to i64
    %m1 = arith.select %p, %a, %m : f32
    %at1 = arith.select %p, %kc, %at : i64
    topi.yield %m1, %at1 : f32, i64
  }
  func.return %i : tensor<4xi64>
}

// An index read from a tensor makes a gather; a compute of rank 0 has no variables.
// CHECK-LABEL: func.func @gather
// CHECK: topi.read %x[%p * 2] : tensor<8xf32>
// CHECK: topi.compute "scalar" [] reduce [%k : 4] init [%acc = 0.000000e+00 : f32] : tensor<f32> {
func.func @gather(%x: tensor<8xf32>, %j: tensor<4xi64>) -> tensor<f32> {
  %g = topi.compute "take" [%i : 4] : tensor<4xf32> {
    %v = topi.read %j[%i] : tensor<4xi64>
    %p = arith.index_cast %v : i64 to index
    %a = topi.read %x[%p * 2] : tensor<8xf32>
    topi.yield %a : f32
  }
  %r = topi.compute "scalar" [] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<f32> {
    %a = topi.read %g[%k] : tensor<4xf32>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<f32>
}

// Upstream cse merges equal computes only; dce removes unused ops.
// CLEAN-LABEL: func.func @upstream
// CLEAN: %a = topi.compute
// CLEAN-NEXT: topi.read %x
// CLEAN: %b = topi.compute
// CLEAN-NEXT: topi.read %y
// CLEAN-NOT: topi.compute
// CLEAN: func.return %a, %b, %a
func.func @upstream(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = topi.compute "id" [%i : 4] : tensor<4xf32> {
    %v = topi.read %x[%i] : tensor<4xf32>
    topi.yield %v : f32
  }
  %b = topi.compute "id" [%i : 4] : tensor<4xf32> {
    %v = topi.read %y[%i] : tensor<4xf32>
    topi.yield %v : f32
  }
  %c = topi.compute "id" [%i : 4] : tensor<4xf32> {
    %v = topi.read %x[%i] : tensor<4xf32>
    topi.yield %v : f32
  }
  %unused = topi.compute "id" [%i : 4] : tensor<4xf32> {
    %v = topi.read %c[%i] : tensor<4xf32>
    topi.yield %v : f32
  }
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The tensor is unsigned; its elements are signless, and the op determines their interpretation.
// CHECK-LABEL: func.func @unsigned
// CHECK:       %t = topi.compute "quotients" [%i : 2] reduce [%k : 4] init [%acc = -56 : i8] : tensor<2xui8> {
// CHECK-NEXT:    %v = topi.read %x[%i, %k] : tensor<2x4xui8>
// CHECK-NEXT:    %q = arith.divui %acc, %v : i8
func.func @unsigned(%x: tensor<2x4xui8>) -> tensor<2xui8> {
  %t = topi.compute "quotients" [%i : 2] reduce [%k : 4] init [%acc = 200 : i8] : tensor<2xui8> {
    %v = topi.read %x[%i, %k] : tensor<2x4xui8>
    %q = arith.divui %acc, %v : i8
    topi.yield %q : i8
  }
  func.return %t : tensor<2xui8>
}
