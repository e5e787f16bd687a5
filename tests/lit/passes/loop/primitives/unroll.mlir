// RUN: xrelay-opt %s -p 'loop-reorder{loops=k,j},loop-unroll{loop=i}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-reorder{loops=k,j},loop-vectorize{loop=j},loop-unroll{loop=j}' 2>&1 | filecheck %s --check-prefix KIND
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=k},loop-unroll{loop=j}' 2>&1 | filecheck %s --check-prefix COPIES
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=n}' 2>&1 | filecheck %s --check-prefix DYNAMIC

// CHECK: loop.for "i" %i to 12 unrolled {
// CHECK-NEXT: loop.for "k" %k to 32 {
// COPIES: error: unroll("j"): loop 'j': its body would be written out 2048 times, 1024 are allowed; help: split it and unroll the inner loop
// KIND: error: unroll("j"): loop 'j': it is vectorized; help: unroll a serial loop
func.func private @gemm(%A: memref<12x32xf32>, %B: memref<32x64xf32>, %C: memref<12x64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 12 {
    loop.for "j" %j to 64 {
      loop.for "k" %k to 32 {
        loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k) reads(%A, %B) writes(%C) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
        } {
          %a = loop.load %A[%vi, %vk] : memref<12x32xf32>
          %b = loop.load %B[%vk, %vj] : memref<32x64xf32>
          %c = loop.load %C[%vi, %vj] : memref<12x64xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %C[%vi, %vj] : memref<12x64xf32>
        }
      }
    }
  }
  func.return
}

// DYNAMIC: error: unroll("n"): loop 'n': its extent is known only at run time; help: split it, and name the inner loop
func.func private @dynamic(%n: index) attributes {loop.kernel} {
  loop.for "n" %i to %n {
  }
  func.return
}
