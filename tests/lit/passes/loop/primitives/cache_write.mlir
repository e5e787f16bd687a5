// RUN: xrelay-opt %s -p 'loop-cache-write{block=gemm}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-cache-write{block=gemm names=r,c},loop-tile{outer=r inner=c outer-factor=6 inner-factor=64},loop-compute-at{block=gemm loop=c_o},loop-reorder{loops=k,i,j}' | filecheck %s --check-prefix TILED
// RUN: xrelay-opt %s -p 'loop-cache-write{block=part}' | filecheck %s --check-prefix PART
// RUN: not xrelay-opt %s -p 'loop-cache-write{block=gemm},loop-cache-write{block=gemm}' 2>&1 | filecheck %s --check-prefix TWICE

// CHECK: %gemm_tile = memref.alloc() : memref<12x64xf32, "local">
// CHECK: loop.block "gemm" ({{.*}}) reads(%A, %B) writes(%gemm_tile) init {
// CHECK: loop.for "gemm_write_0" %{{.*}} to 12 {
// CHECK-NEXT: loop.for "gemm_write_1" %{{.*}} to 64 {
// CHECK-NEXT: loop.block "gemm_write" ({{.*}}) reads(%gemm_tile) writes(%C) {

// TILED: loop.for "r_o" %r_o to 2 {
// TILED-NEXT: loop.for "c_o" %c_o to 1 {
// TILED-NEXT: %gemm_tile = memref.alloc() : memref<6x64xf32, "local">
// TILED-NEXT: loop.for "k" %k to 32 {
// TILED-NEXT: loop.for "i" %i to 6 {
// TILED-NEXT: loop.for "j" %j to 64 {
// TILED-NEXT: loop.block "gemm" (%vi : spatial 12 = %r_o * 6 + %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k)
// TILED: loop.store %zero, %gemm_tile[%vi - %r_o * 6, %vj] : memref<6x64xf32, "local">
// TILED: loop.for "r_i" %r_i to 6 {
// TWICE: error: cache_write("gemm"): block 'gemm': there is a block 'gemm_write' already; help: use cache_write once
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

// The block writes 8 of 12 elements, and these are copied.
// PART: %part_tile = memref.alloc() : memref<8xf32, "local">
// PART: loop.for "part_write_0" %{{.*}} to 8 {
func.func private @part(%A: memref<12xf32>, %C: memref<12xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 8 {
    loop.block "part" (%vi : spatial 8 = %i) reads(%A) writes(%C) {
      %a = loop.load %A[%vi] : memref<12xf32>
      loop.store %a, %C[%vi] : memref<12xf32>
    }
  }
  func.return
}
