// RUN: xrelay-opt %s -p 'loop-reorder{loops=k,i,j}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-compute-at{block=first loop=i2},loop-reorder{loops=j2,i2}' 2>&1 | filecheck %s --check-prefix PERFECT

// CHECK-LABEL: @gemm
// CHECK: loop.for "k" %k to 32 {
// CHECK-NEXT: loop.for "i" %i to 12 {
// CHECK-NEXT: loop.for "j" %j to 64 {
// CHECK-NEXT: loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k)
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

// PERFECT: error: reorder("j2", "i2"): loop 'i2': 'j2' is not perfectly nested in it: block 'first' is next to it; help: reorder the loops on each side of it separately
func.func private @two(%X: memref<8xf32>, %Y: memref<8x16xf32>) attributes {loop.kernel} {
  %T = memref.alloc() : memref<8xf32>
  loop.for "a" %a to 8 {
    loop.block "first" (%v : spatial 8 = %a) reads(%X) writes(%T) {
      %x = loop.load %X[%v] : memref<8xf32>
      loop.store %x, %T[%v] : memref<8xf32>
    }
  }
  loop.for "i2" %i to 8 {
    loop.for "j2" %j to 16 {
      loop.block "second" (%vi : spatial 8 = %i, %vj : spatial 16 = %j) reads(%T) writes(%Y) {
        %t = loop.load %T[%vi] : memref<8xf32>
        loop.store %t, %Y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
  func.return
}
