// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=x86-64-v4 -num-threads=2"}' | filecheck %s --check-prefix SCHEDULE

// The accumulator has the axes after the scan's and is live for one run; the last axis in the text is the innermost.
// CHECK-LABEL: func.func private @sums
// CHECK-NEXT: loop.for "i" %i to 4 {
// CHECK-NEXT:   %acc = memref.alloc() : memref<20xf32, "local">
// CHECK-NEXT:   loop.for "k" %k to 8 {
// CHECK-NEXT:     loop.for "j" %j to 20 {
// CHECK-NEXT:       loop.block "cumsum" (%vi : spatial 4 = %i, %vk : ordered 8 = %k, %vj : spatial 20 = %j) reads(%x) writes(%acc, %r) init {
// CHECK-NEXT:         %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         loop.store %0, %acc[%vj] : memref<20xf32, "local">
// CHECK-NEXT:       } {
// CHECK-NEXT:         %acc_1 = loop.load %acc[%vj] : memref<20xf32, "local">
// CHECK-NEXT:         %a = loop.load %x[%vi, %vk * -1 + 7, %vj] : memref<4x8x20xf32>
// CHECK-NEXT:         %s = arith.addf %acc_1, %a : f32
// CHECK-NEXT:         loop.store %s, %acc[%vj] : memref<20xf32, "local">
// CHECK-NEXT:         loop.store %acc_1, %r[%vi, %vk * -1 + 7, %vj] : memref<4x8x20xf32>
// SCHEDULE: loop.schedule = #loop.schedule<[split("j", 16, names = ["j_o", "j_v"]), vectorize("j_v")]>
func.func private @sums(%x: tensor<4x8x20xf32>) -> tensor<4x8x20xf32> attributes {relay.primitive} {
  %r = topi.scan "cumsum" [%i : 4, %k : 8, %j : 20] along %k reverse exclusive init [%acc = 0.0 : f32] : tensor<4x8x20xf32> {
    %a = topi.read %x[%i, %k, %j] : tensor<4x8x20xf32>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<4x8x20xf32>
}

// An unused result has no buffer; tiles of the axis after the scan are distributed over threads.
// CHECK-LABEL: func.func private @places(%x: memref<64x1024xf32>, %p: memref<64x1024xi64>)
// CHECK: writes(%best, %at, %p)
// SCHEDULE: split("j", 128, names = ["j_t", "j_r"]), reorder("j_t", "k"), split("j_r", 8, names = ["j_r_o", "j_r_v"]), vectorize("j_r_v"), parallelize("j_t")
func.func private @places(%x: tensor<64x1024xf32>) -> tensor<64x1024xi64> attributes {relay.primitive} {
  %v, %p = topi.scan "cummax" [%k : 64, %j : 1024] along %k init [%best = 0xff800000 : f32, %at = 0 : i64] : tensor<64x1024xf32>, tensor<64x1024xi64> {
    %a = topi.read %x[%k, %j] : tensor<64x1024xf32>
    %here = arith.index_cast %k : index to i64
    %larger = arith.cmpf ogt, %a, %best : f32
    %b = arith.select %larger, %a, %best : f32
    %c = arith.select %larger, %here, %at : i64
    topi.yield %b, %c : f32, i64
  }
  func.return %p : tensor<64x1024xi64>
}

// CHECK-LABEL: func.func private @empty
// CHECK-NEXT: func.return
func.func private @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> attributes {relay.primitive} {
  %r = topi.scan "cumsum" [%k : 0, %j : 3] along %k init [%acc = 0.0 : f32] : tensor<0x3xf32> {
    topi.yield %acc : f32
  }
  func.return %r : tensor<0x3xf32>
}
