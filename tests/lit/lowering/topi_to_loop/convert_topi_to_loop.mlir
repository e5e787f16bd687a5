// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// A kernel takes the buffers of its results; the fold's initial values are the init.
// CHECK-LABEL: func.func private @sum(%x: memref<4x8xf32>, %r: memref<4xf32>) attributes {topi.strategies = ["s"], loop.num_outputs = 1 : i64, loop.kernel} {
// CHECK-NEXT: loop.for "i" %i to 4 {
// CHECK-NEXT:   loop.for "k" %k to 8 {
// CHECK-NEXT:     loop.block "sum" (%vi : spatial 4 = %i, %vk : reduce 8 = %k) reads(%x) writes(%r) attributes {loop.source = "topi.matmul"} init {
// CHECK-NEXT:       %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       loop.store %0, %r[%vi] : memref<4xf32>
// CHECK-NEXT:     } {
// CHECK-NEXT:       %acc = loop.load %r[%vi] : memref<4xf32>
// CHECK-NEXT:       %a = loop.load %x[%vi, %vk] : memref<4x8xf32>
// CHECK-NEXT:       %s = arith.addf %acc, %a : f32
// CHECK-NEXT:       loop.store %s, %r[%vi] : memref<4xf32>
func.func private @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> attributes {relay.primitive, topi.strategies = ["s"]} {
  %r = topi.compute "sum" [%i : 4] reduce [%k : 8] init [%acc = 0.0 : f32] : tensor<4xf32> attributes {topi.expanded_from = "topi.matmul"} {
    %a = topi.read %x[%i, %k] : tensor<4x8xf32>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<4xf32>
}

// Two computes: loops are named after the block; the value between has a buffer; loops of one iteration are omitted.
// CHECK-LABEL: func.func private @two
// CHECK: %a = memref.alloc() : memref<1x6xf32>
// CHECK-NEXT: loop.for "pad_i" %pad_i to 6 {
// CHECK-NEXT:   loop.block "pad" (%vn : spatial 1 = 0, %vi : spatial 6 = %pad_i) reads(%x) writes(%a) {
// CHECK:          arith.addi %vi, {{.*}} overflow<nsw> : index
// CHECK:          %[[IN:.*]] = arith.cmpi ult
// CHECK:          scf.if %[[IN]] -> (f32) {
// CHECK-NEXT:       loop.load %x[%vn, %vi - 1] : memref<1x4xf32>
// CHECK-NEXT:       scf.yield
// CHECK-NEXT:     } else {
// CHECK:        loop.for "last_i" %last_i to 6 {
// CHECK:          loop.block "last" {{.*}} reads(%a) writes(%b)
func.func private @two(%x: tensor<1x4xf32>) -> tensor<1x6xf32> attributes {relay.primitive} {
  %a = topi.compute "pad" [%n : 1, %i : 6] : tensor<1x6xf32> {
    %in = topi.in_bounds [%n, %i - 1] of [1, 4]
    %v = topi.guard (%in) -> f32 {
      %w = topi.read %x[%n, %i - 1] : tensor<1x4xf32>
      topi.yield %w : f32
    } else {
      %zero = arith.constant 0.0 : f32
      topi.yield %zero : f32
    }
    topi.yield %v : f32
  }
  %b = topi.compute "last" [%n : 1, %i : 6] : tensor<1x6xf32> {
    %v = topi.read %a[%n, %i] : tensor<1x6xf32>
    topi.yield %v : f32
  }
  func.return %b : tensor<1x6xf32>
}

// Several accumulators are several buffers; one that is not returned is local. Selections depend on the order.
// CHECK-LABEL: func.func private @argmax(%x: memref<4x8xf32>, %i: memref<4xi64>)
// CHECK: %v = memref.alloc() : memref<4xf32, "local">
// CHECK: loop.block "argmax" (%vr : spatial 4 = %r, %vk : ordered 8 = %k) reads(%x) writes(%v, %i) init {
func.func private @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> attributes {relay.primitive} {
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

// An empty index space has no nest, an empty fold has its initial value.
// CHECK-LABEL: func.func private @empty
// CHECK-NOT: loop.block "nothing"
// CHECK: loop.block "first" (%vi : spatial 4 = %first_i) writes(%b) {
// CHECK-NEXT: arith.constant 2.000000e+00 : f32
// CHECK-NEXT: loop.store
// CHECK: func.return
func.func private @empty(%x: tensor<4x0xf32>) -> (tensor<0xf32>, tensor<4xf32>) attributes {relay.primitive} {
  %a = topi.compute "nothing" [%i : 0] : tensor<0xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }
  %b = topi.compute "first" [%i : 4] reduce [%k : 0] init [%acc = 2.0 : f32] : tensor<4xf32> {
    %v = topi.read %x[%i, %k] : tensor<4x0xf32>
    %s = arith.addf %acc, %v : f32
    topi.yield %s : f32
  }
  func.return %a, %b : tensor<0xf32>, tensor<4xf32>
}

// A quotient of variables, which are not negative, rounds towards minus infinity without further ops.
// CHECK-LABEL: func.func private @halves
// CHECK:         loop.block "halves" (%vi : spatial 8 = %i)
// CHECK-NEXT:      arith.constant 2 : index
// CHECK-NEXT:      arith.divui %vi,
// CHECK-NEXT:      arith.index_cast
func.func private @halves() -> tensor<8xi64> attributes {relay.primitive} {
  %r = topi.compute "halves" [%i : 8] : tensor<8xi64> {
    %half = topi.index [%i floordiv 2]
    %v = arith.index_cast %half : index to i64
    topi.yield %v : i64
  }
  func.return %r : tensor<8xi64>
}

// The graph: buffers for intermediate values, outputs in place, constants as weights; a returned input is copied.
// CHECK-LABEL: func.func @main(%x: memref<4x8xf32>, %0: memref<4xf32>, %1: memref<4xf32>, %x_1: memref<4x8xf32>) attributes {loop.num_outputs = 3 : i64} {
// CHECK-NEXT: %w = loop.weight dense<1.000000e+00> : tensor<4xf32> : memref<4xf32>
// CHECK-NEXT: %s = memref.alloc() : memref<4xf32>
// CHECK-NEXT: func.call @sum(%x, %s) : (memref<4x8xf32>, memref<4xf32>) -> ()
// CHECK-NEXT: func.call @add(%s, %w, %0) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT: func.call @copy(%0, %1) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT: func.call @copy_1(%x, %x_1) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  %w = relay.constant dense<1.0> : tensor<4xf32>
  %s = func.call @sum(%x) : (tensor<4x8xf32>) -> tensor<4xf32>
  %0 = func.call @add(%s, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %0, %x : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}

func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %r = topi.compute "add" [%i : 4] : tensor<4xf32> {
    %a = topi.read %x[%i] : tensor<4xf32>
    %b = topi.read %y[%i] : tensor<4xf32>
    %s = arith.addf %a, %b : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: attributes {loop.num_outputs = 1 : i64, loop.kernel}
// CHECK: loop.block "copy"
