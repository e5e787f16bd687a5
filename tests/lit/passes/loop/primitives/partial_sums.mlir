// RUN: xrelay-opt %s -p 'loop-partial-sums{block=gemm loop=k_o},loop-partial-sums{block=moments loop=r_o}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-partial-sums{block=gemm loop=k_o},loop-partial-sums{block=moments loop=r_o},loop-lower-blocks' | filecheck %s --check-prefix LOWERED
// RUN: xrelay-opt %s -p 'loop-partial-sums{block=scaled loop=k_o factors=true}' | filecheck %s --check-prefix FACTORS
// RUN: not xrelay-opt %s -p 'loop-partial-sums{block=gemm loop=k_o factors=true}' 2>&1 | filecheck %s --check-prefix NONE
// RUN: not xrelay-opt %s -p 'loop-partial-sums{block=strict loop=k_o factors=true}' 2>&1 | filecheck %s --check-prefix NONE
// RUN: not xrelay-opt %s -p 'loop-partial-sums{block=gemm loop=j}' 2>&1 | filecheck %s --check-prefix SPATIAL
// RUN: not xrelay-opt %s -p 'loop-partial-sums{block=largest loop=r}' 2>&1 | filecheck %s --check-prefix MAXIMUM

// SPATIAL: error: partial_sums("gemm", "j"): loop 'j': block 'gemm' does not reduce over it; help: name a loop over which it reduces
// NONE: its terms have no factor that is the same for all terms of a part; help: omit factors
// MAXIMUM: error: partial_sums("largest", "r"): block 'largest': its results are not all sums of floats; help: name a block that adds floats

// The last part has 2 terms.
// CHECK-LABEL: func.func private @gemm
// CHECK: loop.for "k_o" %k_o to 4 {
// CHECK-NEXT: %[[PART:.*]] = memref.alloc() : memref<64xf32, "local">
// CHECK-NEXT: loop.for "j_zero" %[[J0:.*]] to 64 vectorized {
// CHECK-NEXT: loop.block "gemm_zero" (%{{.*}} : spatial 12 = %i, %{{.*}} : spatial 64 = %[[J0]], %{{.*}} : reduce 32 = %k_o * 10) writes(%[[PART]]) {
// CHECK: loop.block "gemm" ({{.*}} : reduce 32 = %k_o * 10 + %k_i) reads(%A, %B) writes(%[[PART]]) {
// CHECK: loop.for "j_total" %[[J1:.*]] to 64 vectorized {
// CHECK-NEXT: loop.block "gemm_total" (%[[VI:.*]] : spatial 12 = %i, %[[VJ:.*]] : spatial 64 = %[[J1]], %{{.*}} : reduce 32 = %k_o * 10) reads(%[[PART]]) writes(%C) init {
// CHECK: loop.load %C[%[[VI]], %[[VJ]]]
// CHECK-NEXT: loop.load %[[PART]][%[[VJ]]]
// LOWERED-LABEL: func.func private @gemm
// LOWERED: loop.for "j_total_init" %{{.*}} to 64 vectorized {
// LOWERED: loop.for "k_o" %k_o to 3 {
// LOWERED: loop.for "k_i" %{{.*}} to 10 {
// LOWERED: loop.for "k_i_tail" %{{.*}} to 2 {
func.func private @gemm(%A: memref<12x32xf32>, %B: memref<32x64xf32>, %C: memref<12x64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 12 {
    loop.for "k_o" %k_o to 4 {
      loop.for "k_i" %k_i to 10 {
        loop.for "j" %j to 64 vectorized {
          loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k_o * 10 + %k_i) reads(%A, %B) writes(%C) init {
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
  }
  func.return
}

// Two sums of one block; the init, which reads %B, moves with the results, and runs before all rows.
// CHECK-LABEL: func.func private @moments
// CHECK: loop.block "moments_zero" ({{.*}}) writes(%[[S:.*]], %[[Q:.*]]) {
// CHECK: loop.block "moments" ({{.*}}) reads(%X) writes(%[[S]], %[[Q]]) {
// CHECK: loop.block "moments_total" (%{{.*}} : spatial 1 = 0, %{{.*}} : reduce 3 = %h, %{{.*}} : reduce 40 = %r_o * 8) reads(%B, %[[S]], %[[Q]]) writes(%sum, %square) init {
func.func private @moments(%X: memref<3x40xf32>, %B: memref<1xf32>, %sum: memref<1xf32>, %square: memref<1xf32>) attributes {loop.kernel} {
  loop.for "h" %h to 3 {
    loop.for "r_o" %r_o to 5 {
      loop.for "r_i" %r_i to 8 {
        loop.block "moments" (%v : spatial 1 = 0, %vh : reduce 3 = %h, %r : reduce 40 = %r_o * 8 + %r_i) reads(%X, %B) writes(%sum, %square) init {
          %b = loop.load %B[%v] : memref<1xf32>
          loop.store %b, %sum[%v] : memref<1xf32>
          loop.store %b, %square[%v] : memref<1xf32>
        } {
          %x = loop.load %X[%vh, %r] : memref<3x40xf32>
          %s = loop.load %sum[%v] : memref<1xf32>
          %q = loop.load %square[%v] : memref<1xf32>
          %s1 = arith.addf %s, %x : f32
          %xx = arith.mulf %x, %x : f32
          %q1 = arith.addf %q, %xx : f32
          loop.store %s1, %sum[%v] : memref<1xf32>
          loop.store %q1, %square[%v] : memref<1xf32>
        }
      }
    }
  }
  func.return
}

func.func private @largest(%X: memref<40xf32>, %Y: memref<1xf32>) attributes {loop.kernel} {
  loop.for "r" %r to 40 {
    loop.block "largest" (%v : spatial 1 = 0, %vr : reduce 40 = %r) reads(%X) writes(%Y) init {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %Y[%v] : memref<1xf32>
    } {
      %x = loop.load %X[%vr] : memref<40xf32>
      %y = loop.load %Y[%v] : memref<1xf32>
      %m = arith.maximumf %y, %x : f32
      loop.store %m, %Y[%v] : memref<1xf32>
    }
  }
  func.return
}

// The scale of a block of 8 terms multiplies their sum.
// FACTORS-LABEL: func.func private @scaled
// FACTORS:      loop.block "scaled" (
// FACTORS-NOT:  loop.load %S
// FACTORS:      arith.mulf %{{.*}}, %{{.*}} fastmath<contract>
// FACTORS:      loop.block "scaled_total" (%[[J:.*]] : spatial 16 = %{{.*}}, %[[K:.*]] : reduce 32 = %k_o * 8) reads(%{{.*}}, %S) writes(%Y)
// FACTORS:      %[[OLD:.*]] = loop.load %Y[%[[J]]]
// FACTORS:      %[[PART:.*]] = loop.load
// FACTORS:      %[[H:.*]] = loop.load %S[%[[K]] floordiv 8, %[[J]]] : memref<4x16xf16>
// FACTORS:      %[[F:.*]] = arith.extf %[[H]]
// FACTORS:      %[[P:.*]] = arith.mulf %[[PART]], %[[F]] fastmath<reassoc,contract>
// FACTORS:      arith.addf %[[OLD]], %[[P]] fastmath<reassoc,contract>
func.func private @scaled(%X: memref<32xf32>, %W: memref<32x16xf32>, %S: memref<4x16xf16>, %Y: memref<16xf32>) attributes {loop.kernel} {
  loop.for "k_o" %k_o to 4 {
    loop.for "k_i" %k_i to 8 {
      loop.for "j" %j to 16 vectorized {
        loop.block "scaled" (%vj : spatial 16 = %j, %vk : reduce 32 = %k_o * 8 + %k_i) reads(%X, %W, %S) writes(%Y) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %Y[%vj] : memref<16xf32>
        } {
          %x = loop.load %X[%vk] : memref<32xf32>
          %w = loop.load %W[%vk, %vj] : memref<32x16xf32>
          %h = loop.load %S[%vk floordiv 8, %vj] : memref<4x16xf16>
          %f = arith.extf %h : f16 to f32
          %v = arith.mulf %w, %f fastmath<reassoc> : f32
          %p = arith.mulf %x, %v fastmath<contract> : f32
          %y = loop.load %Y[%vj] : memref<16xf32>
          %s = arith.addf %y, %p fastmath<reassoc,contract> : f32
          loop.store %s, %Y[%vj] : memref<16xf32>
        }
      }
    }
  }
  func.return
}

// A product without the flag is not re-associated.
func.func private @strict(%W: memref<32x16xf32>, %S: memref<4x16xf32>, %Y: memref<16xf32>) attributes {loop.kernel} {
  loop.for "k_o" %k_o to 4 {
    loop.for "k_i" %k_i to 8 {
      loop.for "j" %j to 16 {
        loop.block "strict" (%vj : spatial 16 = %j, %vk : reduce 32 = %k_o * 8 + %k_i) reads(%W, %S) writes(%Y) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %Y[%vj] : memref<16xf32>
        } {
          %w = loop.load %W[%vk, %vj] : memref<32x16xf32>
          %f = loop.load %S[%vk floordiv 8, %vj] : memref<4x16xf32>
          %v = arith.mulf %w, %f : f32
          %y = loop.load %Y[%vj] : memref<16xf32>
          %s = arith.addf %y, %v fastmath<reassoc> : f32
          loop.store %s, %Y[%vj] : memref<16xf32>
        }
      }
    }
  }
  func.return
}
