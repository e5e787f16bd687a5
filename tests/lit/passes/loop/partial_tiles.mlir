// Partial register tiles with a dynamic number of rows: the sums have no conditions, stores to memory have them.
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks | filecheck %s

// CHECK-LABEL: @product
// CHECK: loop.for "r_o" %r_o to %r_o_full {
// CHECK: %[[partial:[0-9]+]] = arith.cmpi slt, %r_o_full, %r_o_extent
// CHECK-NEXT: scf.if %[[partial]] {
// CHECK: loop.for "r_o_few" %r_o_few to %{{[0-9]+}} unroll = disable {
// CHECK: loop.for "k_tail"
// CHECK-NEXT: loop.for "i_tail" %[[i:[a-z0-9_]+]] to 2 unrolled {
// CHECK: %[[row:[0-9]+]] = arith.minsi
// CHECK-NEXT: loop.load %X[%[[row]], %{{[a-z0-9_]+}}]
// CHECK: loop.load %T_1[%[[i]]]
// CHECK-NOT: scf.if
// CHECK: loop.for "r_i_tail" %[[r:[a-z0-9_]+]] to 2 unrolled {
// CHECK: scf.if
// CHECK: loop.load %T_1[%[[r]]]
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y
// CHECK-NOT: loop.for
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

// Without a local buffer, the conditions stay.
// CHECK-LABEL: @square
// CHECK: scf.if
// CHECK-NEXT: loop.for "i_i_tail" %{{[a-z0-9_]+}} to 6 unrolled {
// CHECK-NOT: arith.minsi
// CHECK: scf.if
func.func private @square(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                          %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("i", 6), unroll("i_i")]>} {
  loop.for "i" %i to %n {
    loop.block "b" (%v : spatial %n = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<?xf32>
      %p = arith.mulf %x, %x : f32
      loop.store %p, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}
