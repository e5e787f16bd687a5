// RUN: xrelay-opt %s -p 'loop-split{loop=k factor=3},loop-reorder{loops=k_o,k_i,j}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-split{loop=k factor=3},loop-reorder{loops=k_i,k_o}' 2>&1 | filecheck %s --check-prefix ORDER
// RUN: not xrelay-opt %s -p 'loop-parallelize{loop=k}' 2>&1 | filecheck %s --check-prefix PARALLEL
// RUN: not xrelay-opt %s -p 'loop-reorder{loops=j,k},loop-vectorize{loop=k}' 2>&1 | filecheck %s --check-prefix LANES
// RUN: not xrelay-opt %s -p 'loop-cache-write{block=sums}' 2>&1 | filecheck %s --check-prefix CACHE
// RUN: xrelay-opt %s -p loop-lower-blocks | filecheck %s --check-prefix LOWER

// Other loops may move across an ordered variable; its own loops keep their order.
// CHECK: loop.for "k_o" %k_o to 4 {
// CHECK-NEXT: loop.for "k_i" %k_i to 3 {
// CHECK-NEXT: loop.for "j" %j to 4 {
// CHECK-NEXT: loop.block "sums" (%vj : spatial 4 = %j, %vk : ordered 10 = %k_o * 3 + %k_i)
// ORDER: error: reorder("k_i", "k_o"): loop 'k_i': block 'sums' depends on the order of it and 'k_o': each iteration uses the result of the previous one; help: keep the relative order of these loops
// PARALLEL: error: parallelize("k"): loop 'k': block 'sums' reduces over it
// LANES: error: vectorize("k"): loop 'k': block 'sums' reduces over it
// CACHE: error: cache_write("sums"): block 'sums': its stores have other indices than spatial variables
// LOWER: loop.for "j" %j to 4 {
// LOWER-NEXT: arith.constant
// LOWER-NEXT: loop.store %zero, %S[%j] : memref<4xf32, "local">
// LOWER-NEXT: loop.for "k" %k to 10 {
func.func private @k(%X: memref<4x10xf32>, %Y: memref<4x10xf32>) attributes {loop.kernel} {
  %S = memref.alloc() : memref<4xf32, "local">
  loop.for "j" %j to 4 {
    loop.for "k" %k to 10 {
      loop.block "sums" (%vj : spatial 4 = %j, %vk : ordered 10 = %k) reads(%X) writes(%S, %Y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %S[%vj] : memref<4xf32, "local">
      } {
        %x = loop.load %X[%vj, %vk] : memref<4x10xf32>
        %s = loop.load %S[%vj] : memref<4xf32, "local">
        %t = arith.addf %s, %x : f32
        loop.store %t, %S[%vj] : memref<4xf32, "local">
        loop.store %t, %Y[%vj, %vk] : memref<4x10xf32>
      }
    }
  }
  func.return
}
