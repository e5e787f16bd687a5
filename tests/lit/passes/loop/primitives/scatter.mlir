// RUN: not xrelay-opt %s -p 'loop-parallelize{loop=i}' 2>&1 | filecheck %s --check-prefix ORDER
// RUN: xrelay-opt %s -p 'loop-parallelize{loop=j}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=7},loop-split{loop=j factor=8},loop-vectorize{loop=j_i},loop-unroll{loop=i_i}' | filecheck %s --check-prefix PIECES
// RUN: not xrelay-opt %s -p 'loop-reorder{loops=j,i},loop-vectorize{loop=i}' 2>&1 | filecheck %s --check-prefix ORDER
// RUN: not xrelay-opt %s -p 'loop-split{loop=i factor=7},loop-reorder{loops=i_i,i_o}' 2>&1 | filecheck %s --check-prefix ORDER
// RUN: not xrelay-opt %s -p 'loop-cache-write{block=scatter}' 2>&1 | filecheck %s --check-prefix ORDER

// ORDER: error: {{.*}}block 'scatter'

// Updates of one element stay in order: only the axis that separates updates is free.
// CHECK: loop.for "i" %i to 70 {
// CHECK-NEXT: loop.for "j" %j to 8 parallel {
// PIECES: loop.for "i_o" %i_o to 10 {
// PIECES-NEXT: loop.for "i_i" %i_i to 7 unrolled {
func.func private @k(%at: memref<70xindex>, %u: memref<70x8xf32>, %Y: memref<9x8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 70 {
    loop.for "j" %j to 8 {
      loop.block "scatter" (%vi : ordered 70 = %i, %vj : spatial 8 = %j) reads(%at, %u) writes(%Y) {
        %k = loop.load %at[%vi] : memref<70xindex>
        %v = loop.load %u[%vi, %vj] : memref<70x8xf32>
        %y = loop.load %Y[%k, %vj] : memref<9x8xf32>
        %s = arith.addf %y, %v : f32
        loop.store %s, %Y[%k, %vj] : memref<9x8xf32>
      }
    }
  }
  func.return
}
