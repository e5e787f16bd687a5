// RUN: xrelay-opt %s -p 'loop-prefetch{loop=k}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-prefetch{loop=k ahead=8}' | filecheck %s --check-prefix AHEAD
// RUN: not xrelay-opt %s -p 'loop-prefetch{loop=k ahead=-1}' 2>&1 | filecheck %s --check-prefix COUNT
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=k},loop-prefetch{loop=k}' 2>&1 | filecheck %s --check-prefix KIND

// CHECK: loop.for "k" %k to 32 attributes {loop.prefetch} {
// AHEAD: loop.for "k" %k to 32 attributes {loop.prefetch = 8 : i64} {
// COUNT: error: prefetch: the number of iterations must not be negative, got -1
// KIND: error: prefetch("k"): loop 'k': it is unrolled; help: name the loop over the terms of a sum
func.func private @row(%A: memref<32xf32>, %C: memref<1xf32>) attributes {loop.kernel} {
  loop.for "k" %k to 32 {
    loop.block "sum" (%vi : spatial 1 = 0, %vk : reduce 32 = %k) reads(%A) writes(%C) init {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %C[%vi] : memref<1xf32>
    } {
      %a = loop.load %A[%vk] : memref<32xf32>
      %c = loop.load %C[%vi] : memref<1xf32>
      %s = arith.addf %c, %a : f32
      loop.store %s, %C[%vi] : memref<1xf32>
    }
  }
  func.return
}
