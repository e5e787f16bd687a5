// Primitives, and blocks lowered, where an extent is a value.
// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=16 kernel=square},loop-vectorize{loop=i_i}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=16 kernel=square},loop-vectorize{loop=i_i},loop-lower-blocks' | filecheck %s --check-prefix PEEL
// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=16 kernel=square},loop-parallelize{loop=i_o},loop-lower-blocks' | filecheck %s --check-prefix FORK
// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=16 tail=mask kernel=square},loop-lower-blocks' | filecheck %s --check-prefix MASK
// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=16 kernel=square},loop-split{loop=i_i factor=4 kernel=square},loop-lower-blocks' | filecheck %s --check-prefix ROLLED
// RUN: xrelay-opt %s -p 'loop-fuse{outer=a inner=b},loop-split{loop=a_b factor=6}' | filecheck %s --check-prefix FUSE
// RUN: xrelay-opt %s -p 'loop-cache-write{block=sum}' | filecheck %s --check-prefix CACHE
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=i kernel=square}' 2>&1 | filecheck %s --check-prefix VECTORIZE
// RUN: not xrelay-opt %s -p 'loop-fuse{outer=r inner=k}' 2>&1 | filecheck %s --check-prefix INNER

// RUN: xrelay-opt %s -p 'loop-parallelize{loop=a},loop-split{loop=i factor=16 kernel=square},loop-lower-blocks,convert-loop-to-scf' | filecheck %s --check-prefix SCF
// RUN: not xrelay-opt %s -p 'loop-reorder{loops=k,r},loop-fuse{outer=k inner=r}' 2>&1 | filecheck %s --check-prefix EMPTY

// EMPTY: error: fuse("k", "r"): loop 'k': block 'sum' reduces over it: without iterations, its init would not run; help: fuse spatial loops
// VECTORIZE: error: vectorize("i"): loop 'i': its extent is known only at run time; help: split it, and name the inner loop
// INNER: error: fuse("r", "k"): loop 'k': its extent is known only at run time; help: split it, and name the inner loop

// CHECK-LABEL: @square
// CHECK: %[[n:[0-9]+]] = arith.addi %n
// CHECK: %i_o_extent = arith.divui %[[n]]
// CHECK: loop.for "i_o" %i_o to %i_o_extent {
// CHECK-NEXT: loop.for "i_i" %i_i to 16 vectorized {
// CHECK-NEXT: loop.block "b" (%v : spatial %n = %i_o * 16 + %i_i)
// PEEL-LABEL: @square
// PEEL: %i_o_full = arith.divui %n
// PEEL: loop.for "i_o" %i_o to %i_o_full {
// PEEL-NEXT: loop.for "i_i" %i_i to 16 vectorized {
// PEEL-NEXT: loop.load %X[%i_o * 16 + %i_i]
// PEEL: %[[partial:[0-9]+]] = arith.cmpi slt, %i_o_full, %i_o_extent
// PEEL-NEXT: scf.if %[[partial]] {
// PEEL-NEXT: loop.for "i_i_tail" %i_i_1 to 16 vectorized {
// PEEL: %[[inside:[0-9]+]] = arith.cmpi slt, %{{[0-9]+}}, %n
// PEEL-NEXT: scf.if %[[inside]] {
// PEEL-NEXT: loop.load %X[%i_i_1 + %n floordiv 16 * 16]
// FORK-LABEL: @square
// FORK: loop.for "i_o" %i_o to %i_o_extent parallel {
// FORK-NEXT: %[[full:[0-9]+]] = arith.cmpi slt, %i_o, %i_o_full
// FORK-NEXT: scf.if %[[full]] {
// FORK: %[[tile:[0-9]+]] = arith.minsi %i_o, %{{[0-9]+}}
// FORK-NEXT: loop.for "i_i" %i_i to 16 {
// FORK-NEXT: loop.load %X[%[[tile]] * 16 + %i_i]
// FORK: } else {
// FORK-NEXT: loop.for "i_i_tail" %i_i_1 to 16 {
// FORK: scf.if
// ROLLED-LABEL: @square
// ROLLED: loop.for "i_i_o" %{{.*}} to 4 {
// ROLLED-NEXT: loop.for "i_i_i" %{{.*}} to 4 {
// ROLLED: loop.for "i_i_o_tail" %{{.*}} to 4 unroll = disable {
// ROLLED-NEXT: loop.for "i_i_i_tail" %{{.*}} to 4 {
// MASK-LABEL: @square
// MASK: loop.for "i_o" %i_o to %i_o_extent tail = mask {
// MASK-NEXT: loop.for "i_i" %i_i to 16 {
// MASK: arith.cmpi slt, %{{[0-9]+}}, %n
// MASK-NEXT: scf.if
func.func private @square(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                          %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    loop.block "b" (%v : spatial %n = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<?xf32>
      %p = arith.mulf %x, %x : f32
      loop.store %p, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}

// SCF-LABEL: @rows
// SCF: "scf.parallel"(%{{[0-9]+}}, %n, %{{[0-9]+}})
// A loop whose extent is a multiple of the factor is split without a change of the domain.
// FUSE-LABEL: @rows
// FUSE: %a_b_extent = arith.muli %n
// FUSE: loop.for "a_b_o" %a_b_o to %n {
// FUSE-NEXT: loop.for "a_b_i" %a_b_i to 6 {
// FUSE-NEXT: loop.block "rows" (%va : spatial %n = %a_b_o, %vb : spatial 6 = %a_b_i)
func.func private @rows(%X: memref<?x6xf32> {loop.extents = array<i64: 0>},
                        %Y: memref<?x6xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "a" %a to %n {
    loop.for "b" %b to 6 {
      loop.block "rows" (%va : spatial %n = %a, %vb : spatial 6 = %b) reads(%X) writes(%Y) {
        %x = loop.load %X[%va, %vb] : memref<?x6xf32>
        loop.store %x, %Y[%va, %vb] : memref<?x6xf32>
      }
    }
  }
  func.return
}

// CACHE-LABEL: @sum
// CACHE: %sum_tile = memref.alloc(%n) : memref<?xf32, "local">
// CACHE: loop.block "sum" (%vr : spatial %n = %r, %vk : reduce %m = %k) reads(%X) writes(%sum_tile) init
// CACHE: loop.for "sum_write_0" %sum_write to %n {
// CACHE-NEXT: loop.block "sum_write" (%v0 : spatial %n = %sum_write) reads(%sum_tile) writes(%Y)
func.func private @sum(%X: memref<?x?xf32> {loop.extents = array<i64: 0, 1>},
                       %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "r" %r to %n {
    loop.for "k" %k to %m {
      loop.block "sum" (%vr : spatial %n = %r, %vk : reduce %m = %k) reads(%X) writes(%Y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %Y[%vr] : memref<?xf32>
      } {
        %x = loop.load %X[%vr, %vk] : memref<?x?xf32>
        %y = loop.load %Y[%vr] : memref<?xf32>
        %s = arith.addf %x, %y : f32
        loop.store %s, %Y[%vr] : memref<?xf32>
      }
    }
  }
  func.return
}

// A nest of two parallel loops, without a fuse, is converted to one parallel loop.
// SCF-LABEL: @plane
// SCF: %[[all:[0-9]+]] = arith.muli %n, %m overflow<nsw,nuw> : index
// SCF-NEXT: %[[empty:[0-9]+]] = arith.cmpi eq, %m, %[[zero:[0-9]+]]
// SCF-NEXT: %[[end:[0-9]+]] = arith.select %[[empty]], %[[zero]], %[[all]]
// SCF-NEXT: "scf.parallel"(%[[zero]], %[[end]], %{{[0-9]+}})
// SCF: ^bb0(%tile: index):
// SCF: arith.divui %tile, %m {loop.positive_divisor}
// SCF: arith.remui %tile, %m {loop.positive_divisor}
func.func private @plane(%X: memref<?x?xf32> {loop.extents = array<i64: 0, 1>},
                         %Y: memref<?x?xf32> {loop.extents = array<i64: 0, 1>}, %n: index, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "p" %p to %n parallel {
    loop.for "q" %q to %m parallel {
      loop.block "copy" (%vp : spatial %n = %p, %vq : spatial %m = %q) reads(%X) writes(%Y) {
        %x = loop.load %X[%vp, %vq] : memref<?x?xf32>
        loop.store %x, %Y[%vp, %vq] : memref<?x?xf32>
      }
    }
  }
  func.return
}
