// The rows after the full register tiles of a dynamic number of rows are computed in smaller tiles, without conditions.
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks | filecheck %s

// CHECK-LABEL: @product
// CHECK: loop.for "r_o" %r_o to %r_o_full {
// CHECK: loop.for "i" %{{[a-z0-9_]+}} to 6 unrolled {
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y[%r_o * 6 + %{{[a-z0-9_]+}}]
// CHECK: %[[short:[0-9]+]] = arith.cmpi slt, %n, %{{[0-9]+}}
// CHECK-NEXT: scf.if %[[short]] {
// CHECK-NEXT: loop.for "r_o_rows" %{{[a-z0-9_]+}} to %{{[a-z0-9_]+}} unroll = disable {
// CHECK: loop.for "i_tail_row" %{{[a-z0-9_]+}} to 1 unrolled {
// CHECK-NOT: scf.if
// CHECK: } else {
// CHECK-NEXT: loop.for "r_o_few" %{{[a-z0-9_]+}} to %{{[a-z0-9_]+}} unroll = disable {
// CHECK: %[[start:[0-9]+]] = arith.minsi
// CHECK: loop.for "i_tail" %[[j:[a-z0-9_]+]] to 2 unrolled {
// CHECK-NEXT: loop.load %X[%[[start]] + %[[j]], %{{[a-z0-9_]+}}]
// CHECK-NOT: scf.if
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y[%[[start]] + %{{[a-z0-9_]+}}]
func.func private @product(%X: memref<?x9xf32> {loop.extents = array<i64: 0>}, %W: memref<9xf32>,
                           %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("r", 6), compute_at("sum", "r_o"), reorder("k", "i"), unroll("i"), unroll("r_i")]>} {
  %T = memref.alloc(%n) : memref<?xf32>
  loop.for "i" %i to %n {
    loop.for "k" %k to 9 {
      loop.block "sum" (%vi : spatial %n = %i, %vk : reduce 9 = %k) reads(%X, %W) writes(%T) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %T[%vi] : memref<?xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<?x9xf32>
        %w = loop.load %W[%vk] : memref<9xf32>
        %t = loop.load %T[%vi] : memref<?xf32>
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %t, %p : f32
        loop.store %s, %T[%vi] : memref<?xf32>
      }
    }
  }
  loop.for "r" %r to %n {
    loop.block "twice" (%vr : spatial %n = %r) reads(%T) writes(%Y) {
      %t = loop.load %T[%vr] : memref<?xf32>
      %d = arith.addf %t, %t : f32
      loop.store %d, %Y[%vr] : memref<?xf32>
    }
  }
  func.return
}

// Rows that read what the tile stores are computed once, one by one; so are those of tiles of less than 5 rows.
// CHECK-LABEL: @square
// CHECK: loop.for "i_o" %i_o to %i_o_full {
// CHECK-NEXT: loop.for "i_i" %{{[a-z0-9_]+}} to 6 unrolled {
// CHECK: loop.for "i_o_rows" %[[i:[a-z0-9_]+]] to %i_o_rows_extent unroll = disable {
// CHECK-NEXT: loop.for "i_i_tail" %{{[a-z0-9_]+}} to 1 unrolled {
// CHECK-NOT: scf.if
// CHECK: func.return
func.func private @square(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                          %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("i", 6), unroll("i_i")]>} {
  loop.for "i" %i to %n {
    loop.block "b" (%v : spatial %n = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<?xf32>
      %y = loop.load %Y[%v] : memref<?xf32>
      %p = arith.mulf %x, %y : f32
      loop.store %p, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}

// Nor is a row computed twice that overwrites its input.
// CHECK-LABEL: @in_place
// CHECK-NOT: loop.for "i_o_few"
// CHECK: loop.for "i_o_rows"
func.func private @in_place(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                            %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.in_place = array<i64: 0, 1>,
                loop.schedule = #loop.schedule<[split("i", 6), unroll("i_i")]>} {
  loop.for "i" %i to %n {
    loop.block "b" (%v : spatial %n = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<?xf32>
      %p = arith.mulf %x, %x : f32
      loop.store %p, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}

// Nor do rows without sums, which take no longer one by one.
// CHECK-LABEL: @columns
// CHECK-NOT: loop.for "i_o_few"
// CHECK: loop.for "i_o_rows"
func.func private @columns(%X: memref<4x?xf32> {loop.extents = array<i64: 0>},
                           %Y: memref<?x4xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64,
                loop.schedule = #loop.schedule<[split("i", 6), unroll("i_i")]>} {
  loop.for "i" %i to %n {
    loop.block "b" (%v : spatial %n = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[3, %v] : memref<4x?xf32>
      loop.store %x, %Y[%v, 3] : memref<?x4xf32>
    }
  }
  func.return
}

// The conditions stay if the rows are not unrolled.
// CHECK-LABEL: @copy
// CHECK: loop.for "i_i_tail" %{{[a-z0-9_]+}} to 6 {
// CHECK: scf.if
func.func private @copy(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                             %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("i", 6)]>} {
  loop.for "i" %i to %n {
    loop.block "b" (%v : spatial %n = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<?xf32>
      loop.store %x, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}

// All rows of a tile share a weight that a block of the tile computes; rows of the rest compute it again.
// CHECK-LABEL: @shared
// CHECK: loop.for "r_o" %r_o to %r_o_full {
// CHECK: loop.for "r_o_rows" %{{[a-z0-9_]+}} to %{{[a-z0-9_]+}} unroll = disable {
// CHECK: arith.addf %[[v:[a-z0-9_]+]], %[[v]]
// CHECK: loop.for "i_tail" %{{[a-z0-9_]+}} to 1 unrolled {
// CHECK-NOT: scf.if
// CHECK: func.return
func.func private @shared(%X: memref<?x9xf32> {loop.extents = array<i64: 0>}, %W: memref<9xf32>,
                          %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("r", 4), compute_at("sum", "r_o"), reorder("k", "i"), unroll("i"), unroll("r_i"), compute_at("unpack", "k")]>} {
  %U = memref.alloc() : memref<9xf32>
  %T = memref.alloc(%n) : memref<?xf32>
  loop.for "u" %u to 9 {
    loop.block "unpack" (%vu : spatial 9 = %u) reads(%W) writes(%U) {
      %v = loop.load %W[%vu] : memref<9xf32>
      %d = arith.addf %v, %v : f32
      loop.store %d, %U[%vu] : memref<9xf32>
    }
  }
  loop.for "i" %i to %n {
    loop.for "k" %k to 9 {
      loop.block "sum" (%vi : spatial %n = %i, %vk : reduce 9 = %k) reads(%X, %U) writes(%T) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %T[%vi] : memref<?xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<?x9xf32>
        %w = loop.load %U[%vk] : memref<9xf32>
        %t = loop.load %T[%vi] : memref<?xf32>
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %t, %p : f32
        loop.store %s, %T[%vi] : memref<?xf32>
      }
    }
  }
  loop.for "r" %r to %n {
    loop.block "twice" (%vr : spatial %n = %r) reads(%T) writes(%Y) {
      %t = loop.load %T[%vr] : memref<?xf32>
      %d = arith.addf %t, %t : f32
      loop.store %d, %Y[%vr] : memref<?xf32>
    }
  }
  func.return
}
