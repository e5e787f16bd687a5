// RUN: xrelay-opt %s -p 'loop-rfactor{block=gemm loop=k_o},loop-parallelize{loop=k_o}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-split{loop=r factor=8},loop-rfactor{block=most loop=r_o}' | filecheck %s --check-prefix MOST
// RUN: xrelay-opt %s -p 'loop-split{loop=d factor=16},loop-rfactor{block=row loop=d_i}' | filecheck %s --check-prefix ROW
// RUN: not xrelay-opt %s -p 'loop-rfactor{block=gemm loop=i}' 2>&1 | filecheck %s --check-prefix SPATIAL
// RUN: not xrelay-opt %s -p 'loop-split{loop=r factor=7},loop-rfactor{block=most loop=r_o}' 2>&1 | filecheck %s --check-prefix TAIL
// RUN: not xrelay-opt %s -p 'loop-rfactor{block=first loop=s}' 2>&1 | filecheck %s --check-prefix ORDERED

// SPATIAL: error: rfactor("gemm", "i"): loop 'i': block 'gemm' does not reduce over it; help: name a loop over which it reduces
// TAIL: error: rfactor("most", "r_o"): variable 1 of block 'most': some iterations of 'r_o' are outside of its domain; help: split the reduction by a divisor of its extent
// ORDERED: error: rfactor("first", "s"): loop 's': block 'first' depends on the order of its iterations; help: name a loop of a reduce variable

// CHECK-LABEL: func.func private @gemm
// CHECK: %[[PART:.*]] = memref.alloc() : memref<4x2x64xf32>
// CHECK-NEXT: loop.for "k_o" %k_o to 4 parallel {
// CHECK: loop.block "gemm" (%[[N:.*]] : spatial 4 = %k_o, %[[VI:.*]] : spatial 2 = %i, %[[VJ:.*]] : spatial 64 = %j, %[[VK:.*]] : reduce 8 = %k_i) reads(%A, %B) writes(%[[PART]]) init {
// CHECK: loop.load %A[%[[VI]], %[[N]] * 8 + %[[VK]]]
// CHECK: loop.store %{{.*}}, %[[PART]][%[[N]], %[[VI]], %[[VJ]]]
// CHECK: loop.for "k_o_total" %[[K:.*]] to 4 {
// CHECK-NEXT: loop.for "i_total" %[[I:.*]] to 2 {
// CHECK-NEXT: loop.for "j_total" %[[J:.*]] to 64 vectorized {
// CHECK-NEXT: loop.block "gemm_total" (%[[WI:.*]] : spatial 2 = %[[I]], %[[WJ:.*]] : spatial 64 = %[[J]], %[[M:.*]] : reduce 4 = %[[K]]) reads(%[[PART]]) writes(%C) init {
// CHECK: loop.load %[[PART]][%[[M]], %[[WI]], %[[WJ]]]
// CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// MOST-LABEL: func.func private @gemm
func.func private @gemm(%A: memref<2x32xf32>, %B: memref<32x64xf32>, %C: memref<2x64xf32>) attributes {loop.kernel} {
  loop.for "k_o" %k_o to 4 {
    loop.for "i" %i to 2 {
      loop.for "k_i" %k_i to 8 {
        loop.for "j" %j to 64 vectorized {
          loop.block "gemm" (%vi : spatial 2 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k_o * 8 + %k_i) reads(%A, %B) writes(%C) init {
            %zero = arith.constant 0.0 : f32
            loop.store %zero, %C[%vi, %vj] : memref<2x64xf32>
          } {
            %a = loop.load %A[%vi, %vk] : memref<2x32xf32>
            %b = loop.load %B[%vk, %vj] : memref<32x64xf32>
            %c = loop.load %C[%vi, %vj] : memref<2x64xf32>
            %p = arith.mulf %a, %b : f32
            %s = arith.addf %c, %p fastmath<reassoc> : f32
            loop.store %s, %C[%vi, %vj] : memref<2x64xf32>
          }
        }
      }
    }
  }
  func.return
}

// The parts begin at the least integer, and the result at its own init.
// MOST-LABEL: func.func private @most
// MOST: loop.block "most" (%[[N:.*]] : spatial 5 = %r_o, %{{.*}} : spatial 1 = 0, %{{.*}} : reduce 8 = %r_i)
// MOST-NEXT: %[[LEAST:.*]] = arith.constant -128 : i8
// MOST-NEXT: loop.store %[[LEAST]], %most_part[%[[N]], %{{.*}}] : memref<5x1xi8>
// MOST: loop.block "most_total"
// MOST-NEXT: arith.constant 3 : i8
// MOST: arith.maxsi
func.func private @most(%X: memref<40xi8>, %Y: memref<1xi8>) attributes {loop.kernel} {
  loop.for "r" %r to 40 {
    loop.block "most" (%v : spatial 1 = 0, %vr : reduce 40 = %r) reads(%X) writes(%Y) init {
      %three = arith.constant 3 : i8
      loop.store %three, %Y[%v] : memref<1xi8>
    } {
      %x = loop.load %X[%vr] : memref<40xi8>
      %y = loop.load %Y[%v] : memref<1xi8>
      %m = arith.maxsi %y, %x : i8
      loop.store %m, %Y[%v] : memref<1xi8>
    }
  }
  func.return
}

func.func private @first(%X: memref<40xf32>, %Y: memref<1xf32>) attributes {loop.kernel} {
  loop.for "s" %s to 40 {
    loop.block "first" (%v : spatial 1 = 0, %vs : ordered 40 = %s) reads(%X) writes(%Y) {
      %x = loop.load %X[%vs] : memref<40xf32>
      %y = loop.load %Y[%v] : memref<1xf32>
      %a = arith.addf %y, %x : f32
      loop.store %a, %Y[%v] : memref<1xf32>
    }
  }
  func.return
}

// If the domain ends at run time, a branch skips the iterations outside of it.
// ROW-LABEL: func.func private @row
// ROW: loop.for "d_o" %d_o to %d_o_extent {
// ROW-NEXT: loop.for "d_i" %d_i to 16 {
// ROW-NEXT: loop.block "row" (%[[L:.*]] : spatial 16 = %d_i, %{{.*}} : spatial 1 = 0, %[[R:.*]] : reduce ? = %d_o * 16)
// ROW: %[[K:.*]] = arith.addi %[[L]], %[[R]]
// ROW-NEXT: %[[IN:.*]] = arith.cmpi slt, %[[K]], %n : index
// ROW-NEXT: scf.if %[[IN]] {
// ROW-NEXT: loop.load %X[%[[L]] + %[[R]]]
// ROW: loop.store %{{.*}}, %row_part[%[[L]], %{{.*}}]
func.func private @row(%X: memref<?xf32> {loop.extents = array<i64: 0>}, %Y: memref<1xf32>, %n: index)
    attributes {loop.kernel} {
  loop.for "d" %d to %n {
    loop.block "row" (%v : spatial 1 = 0, %vd : reduce %n = %d) reads(%X) writes(%Y) init {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %Y[%v] : memref<1xf32>
    } {
      %x = loop.load %X[%vd] : memref<?xf32>
      %y = loop.load %Y[%v] : memref<1xf32>
      %m = arith.maximumf %y, %x : f32
      loop.store %m, %Y[%v] : memref<1xf32>
    }
  }
  func.return
}
