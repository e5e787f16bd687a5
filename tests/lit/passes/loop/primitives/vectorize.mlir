// RUN: xrelay-opt %s -p 'loop-reorder{loops=k,j},loop-vectorize{loop=j}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=k}' 2>&1 | filecheck %s --check-prefix REDUCE
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=wide}' 2>&1 | filecheck %s --check-prefix WIDE
// RUN: xrelay-opt %s -p 'loop-vectorize{loop=col access=any}' | filecheck %s --check-prefix ANY
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=col}' 2>&1 | filecheck %s --check-prefix ROWS
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=col access=masked}' 2>&1 | filecheck %s --check-prefix ROWS
// RUN: xrelay-opt %s -p 'loop-vectorize{loop=lane access=masked}' | filecheck %s --check-prefix MASKED
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=lane}' 2>&1 | filecheck %s --check-prefix BRANCHES

// CHECK: loop.for "j" %j to 64 vectorized {
// CHECK-NEXT: loop.block "gemm"
// REDUCE: error: vectorize("k"): loop 'k': block 'gemm' reduces over it: its iterations add to the same element; help: vectorize a loop of a spatial variable
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

// WIDE: error: vectorize("wide"): loop 'wide': it has 8589934592 iterations, a vector at most 1024 lanes; help: split it and vectorize the inner loop
func.func private @wide(%X: memref<8589934592xf32>) attributes {loop.kernel} {
  loop.for "wide" %i to 8589934592 {
    loop.block "fill" (%v : spatial 8589934592 = %i) writes(%X) {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %X[%v] : memref<8589934592xf32>
    }
  }
  func.return
}

// ANY: loop.for "col" %{{.*}} to 8 vectorized {
// ROWS: error: vectorize("col"{{.*}}): loop 'col': block 'flip' reads with strides [1, 0] in its buffer's dimensions: only the last may differ from 0, and be 1; help: vectorize another loop, or change the layout
func.func private @flip(%X: memref<8x4xf32>, %Y: memref<4x8xf32>) attributes {loop.kernel} {
  loop.for "row" %i to 4 {
    loop.for "col" %j to 8 {
      loop.block "flip" (%vi : spatial 4 = %i, %vj : spatial 8 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vj, %vi] : memref<8x4xf32>
        loop.store %x, %Y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
  func.return
}

// MASKED: loop.for "lane" %{{.*}} to 8 vectorized {
// BRANCHES: error: vectorize("lane"): loop 'lane': block 'padded' runs different branches in different lanes; help: vectorize another loop, or change the layout
func.func private @padded(%X: memref<6xf32>, %Y: memref<8xf32>) attributes {loop.kernel} {
  loop.for "lane" %i to 8 {
    loop.block "padded" (%v : spatial 8 = %i) reads(%X) writes(%Y) {
      %one = arith.constant 1 : index
      %six = arith.constant 6 : index
      %at = arith.subi %v, %one : index
      %inside = arith.cmpi ult, %at, %six : index
      %x = scf.if %inside -> (f32) {
        %0 = loop.load %X[%v - 1] : memref<6xf32>
        scf.yield %0 : f32
      } else {
        %zero = arith.constant 0.0 : f32
        scf.yield %zero : f32
      }
      %p = arith.mulf %x, %x : f32
      loop.store %p, %Y[%v] : memref<8xf32>
    }
  }
  func.return
}
