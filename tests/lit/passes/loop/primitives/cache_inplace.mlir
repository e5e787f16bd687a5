// RUN: xrelay-opt %s -p 'loop-cache-inplace{block=gemm loop=i_o}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-cache-inplace{block=gemm loop=i_o},loop-lower-blocks' | filecheck %s --check-prefix LOWERED
// RUN: not xrelay-opt %s -p 'loop-cache-inplace{block=whole loop=w}' 2>&1 | filecheck %s --check-prefix WHOLE

// WHOLE: error: cache_inplace("whole", "w"): loop 'w': neither it nor a loop around it is a reduction of block 'whole'; help: split and reorder the reduction, or use cache_write and compute_at

// The kinds of the loops of a tile are kept. The blocks that copy belong to the first term of each part.
// CHECK-LABEL: func.func private @gemm
// CHECK: loop.for "k_o" %k_o to 4 {
// CHECK-NEXT: loop.for "i_o" %i_o to 2 {
// CHECK-NEXT: %[[CACHE:.*]] = memref.alloc() : memref<6x64xf32, "local">
// CHECK-NEXT: loop.for "i_i_load" %[[I0:.*]] to 6 unrolled {
// CHECK-NEXT: loop.for "j_load" %[[J0:.*]] to 64 vectorized {
// CHECK-NEXT: loop.block "gemm_load" (%[[VI:.*]] : spatial 12 = %i_o * 6 + %[[I0]], %[[VJ:.*]] : spatial 64 = %[[J0]], %{{.*}} : reduce 30 = %k_o * 8) writes(%C, %[[CACHE]]) init {
// CHECK: %[[X:.*]] = loop.load %C[%[[VI]], %[[VJ]]]
// CHECK-NEXT: loop.store %[[X]], %[[CACHE]][%[[VI]] - %i_o * 6, %[[VJ]]]
// CHECK: loop.for "k_i" %k_i to 8 {
// CHECK: loop.block "gemm" (%[[WI:.*]] : spatial 12 = %i_o * 6 + %i_i, %[[WJ:.*]] : spatial 64 = %j, {{.*}} : reduce 30 = %k_o * 8 + %k_i) reads(%A, %B) writes(%[[CACHE]]) {
// CHECK: loop.store %{{.*}}, %[[CACHE]][%[[WI]] - %i_o * 6, %[[WJ]]]
// CHECK: loop.for "i_i_store" %[[I1:.*]] to 6 unrolled {
// CHECK: loop.block "gemm_store" ({{.*}} : reduce 30 = %k_o * 8) reads(%[[CACHE]]) writes(%C) {

// All elements are initialised before the first part; the last part has 6 terms.
// LOWERED-LABEL: func.func private @gemm
// LOWERED: loop.for "i_o_init" %{{.*}} to 2 {
// LOWERED: loop.for "k_o" %k_o to 3 {
// LOWERED: loop.for "k_i_tail" %{{.*}} to 6 {
func.func private @gemm(%A: memref<12x30xf32>, %B: memref<30x64xf32>, %C: memref<12x64xf32>) attributes {loop.kernel} {
  loop.for "k_o" %k_o to 4 {
    loop.for "i_o" %i_o to 2 {
      loop.for "k_i" %k_i to 8 {
        loop.for "i_i" %i_i to 6 unrolled {
          loop.for "j" %j to 64 vectorized {
            loop.block "gemm" (%vi : spatial 12 = %i_o * 6 + %i_i, %vj : spatial 64 = %j, %vk : reduce 30 = %k_o * 8 + %k_i) reads(%A, %B) writes(%C) init {
              %zero = arith.constant 0.0 : f32
              loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
            } {
              %a = loop.load %A[%vi, %vk] : memref<12x30xf32>
              %b = loop.load %B[%vk, %vj] : memref<30x64xf32>
              %c = loop.load %C[%vi, %vj] : memref<12x64xf32>
              %p = arith.mulf %a, %b : f32
              %s = arith.addf %c, %p : f32
              loop.store %s, %C[%vi, %vj] : memref<12x64xf32>
            }
          }
        }
      }
    }
  }
  func.return
}

func.func private @whole(%X: memref<4x40xf32>, %Y: memref<4xf32>) attributes {loop.kernel} {
  loop.for "w" %w to 4 {
    loop.for "k" %k to 40 {
      loop.block "whole" (%vw : spatial 4 = %w, %vk : reduce 40 = %k) reads(%X) writes(%Y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %Y[%vw] : memref<4xf32>
      } {
        %x = loop.load %X[%vw, %vk] : memref<4x40xf32>
        %y = loop.load %Y[%vw] : memref<4xf32>
        %s = arith.addf %y, %x : f32
        loop.store %s, %Y[%vw] : memref<4xf32>
      }
    }
  }
  func.return
}
