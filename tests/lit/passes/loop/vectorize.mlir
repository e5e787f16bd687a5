// RUN: xrelay-opt %s -p 'loop-reorder{loops=k,j},loop-vectorize{loop=j}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=j}' 2>&1 | filecheck %s --check-prefix INNERMOST
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=k}' 2>&1 | filecheck %s --check-prefix REDUCE
// RUN: not xrelay-opt %s -p 'loop-reorder{loops=k,j,i},loop-vectorize{loop=i}' 2>&1 | filecheck %s --check-prefix STRIDE
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=p}' 2>&1 | filecheck %s --check-prefix BRANCH

// CHECK: loop.for "j" %j to 64 vectorized {
// CHECK-NEXT: loop.block "gemm"
// INNERMOST: error: vectorize("j"): loop 'j': it is not innermost: loop 'k' is inside it; help: reorder it innermost, or split and vectorize the inner loop
// REDUCE: error: vectorize("k"): loop 'k': block 'gemm' reduces over it: its iterations add to the same element; help: vectorize a loop of a spatial variable
// STRIDE: error: vectorize("i"): loop 'i': block 'gemm' writes with strides [1, 0] in its buffer's dimensions, not 0 before the last and 0 or 1 in it; help: vectorize another loop, or change the layout
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

// BRANCH: error: vectorize("p"): loop 'p': block 'pad' runs different branches in different lanes; help: vectorize another loop, or change the layout
func.func private @pad(%X: memref<8xf32>, %Y: memref<9xf32>) attributes {loop.kernel} {
  loop.for "p" %p to 9 {
    loop.block "pad" (%v : spatial 9 = %p) reads(%X) writes(%Y) {
      %eight = arith.constant 8 : index
      %inside = arith.cmpi slt, %v, %eight : index
      %x = scf.if %inside -> (f32) {
        %l = loop.load %X[%v] : memref<8xf32>
        scf.yield %l : f32
      } else {
        %z = arith.constant 0.0 : f32
        scf.yield %z : f32
      }
      loop.store %x, %Y[%v] : memref<9xf32>
    }
  }
  func.return
}
