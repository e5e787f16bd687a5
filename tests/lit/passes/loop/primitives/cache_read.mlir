// RUN: xrelay-opt %s -p 'loop-cache-read{block=gemm operand=1 last=0}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-cache-read{block=gemm operand=0}' | filecheck %s --check-prefix PLAIN
// RUN: xrelay-opt %s -p 'loop-cache-read{block=gemm operand=1 last=0},loop-cache-write{block=gemm names=r,c},loop-split{loop=c factor=16},loop-reorder{loops=c_o,r,c_i},loop-compute-at{block=gemm loop=r},loop-compute-at{block=gemm_read1 loop=c_o}' | filecheck %s --check-prefix TILED
// RUN: not xrelay-opt %s -p 'loop-cache-read{block=gemm operand=2}' 2>&1 | filecheck %s --check-prefix NUMBER
// RUN: not xrelay-opt %s -p 'loop-cache-read{block=gemm operand=1 last=2}' 2>&1 | filecheck %s --check-prefix LAST
// RUN: not xrelay-opt %s -p 'loop-cache-read{block=gemm operand=1},loop-cache-read{block=gemm operand=1}' 2>&1 | filecheck %s --check-prefix TWICE

// The copy of the transposed operand is filled before the nest, with columns innermost.
// CHECK: %gemm_read1 = memref.alloc() : memref<32x64xf32>
// CHECK-NEXT: loop.for "gemm_read1_0" %{{.*}} to 32 {
// CHECK-NEXT: loop.for "gemm_read1_1" %{{.*}} to 64 {
// CHECK-NEXT: loop.block "gemm_read1" (%v0 : spatial 32 = %{{.*}}, %v1 : spatial 64 = %{{.*}}) reads(%B) writes(%gemm_read1) {
// CHECK-NEXT: loop.load %B[%v1, %v0] : memref<64x32xf32>
// CHECK-NEXT: loop.store %{{.*}}, %gemm_read1[%v0, %v1] : memref<32x64xf32>
// CHECK: loop.block "gemm" ({{.*}}) reads(%A, %gemm_read1) writes(%C) init {
// CHECK: loop.load %A[%vi, %vk] : memref<12x32xf32>
// CHECK: loop.load %gemm_read1[%vk, %vj] : memref<32x64xf32>

// PLAIN: %gemm_read0 = memref.alloc() : memref<12x32xf32>
// PLAIN: reads(%B, %gemm_read0) writes(%C)

// A part of it suffices for a tile of columns, and all rows use it.
// TILED: loop.for "c_o" %c_o to 4 {
// TILED-NEXT: %gemm_read1 = memref.alloc() : memref<32x16xf32, "local">
// TILED-NEXT: loop.for "gemm_read1_0" %{{.*}} to 32 {
// TILED-NEXT: loop.for "gemm_read1_1" %{{.*}} to 16 {
// TILED: loop.for "r" %r to 12 {
// TILED: loop.load %gemm_read1[%vk, %vj - %c_o * 16] : memref<32x16xf32, "local">

// NUMBER: error: cache_read("gemm", 2): block 'gemm': it makes 2 reads, which are numbered from 0; help: name one of them
// LAST: error: cache_read("gemm", 1, last = 2): block 'gemm': its operand has 2 dimensions, there is no dimension 2; help: name one of them
// TWICE: error: cache_read("gemm", 1): block 'gemm': there is a block 'gemm_read1' already; help: use cache_read once
func.func private @gemm(%A: memref<12x32xf32>, %B: memref<64x32xf32>, %C: memref<12x64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 12 {
    loop.for "j" %j to 64 {
      loop.for "k" %k to 32 {
        loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k) reads(%A, %B) writes(%C) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
        } {
          %a = loop.load %A[%vi, %vk] : memref<12x32xf32>
          %b = loop.load %B[%vj, %vk] : memref<64x32xf32>
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
