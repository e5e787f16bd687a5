// The rows after the full register tiles of a dynamic number of rows are computed in smaller tiles, without conditions.
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks | filecheck %s

// CHECK-LABEL: @product
// CHECK: loop.for "r_o" %r_o to %r_o_full {
// CHECK: loop.for "i" %{{[a-z0-9_]+}} to 6 unrolled {
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y[%r_o * 6 + %{{[a-z0-9_]+}}]
// CHECK: loop.for "r_o_rest" %{{[a-z0-9_]+}} to %r_o_rest unroll = disable {
// CHECK: %[[rows:[0-9]+]] = arith.minsi %[[left:[0-9]+]], %{{[0-9]+}} : index
// CHECK: loop.for "i_tail" %[[i:[a-z0-9_]+]] to 2 unrolled {
// CHECK: %[[distance:[0-9]+]] = arith.minsi
// CHECK-NEXT: loop.load %X[%{{[a-z0-9_]+}} * 2 + %[[distance]] + %[[i]] + %n floordiv 6 * 6, %{{[a-z0-9_]+}}]
// CHECK: loop.load %[[sum:T_[0-9]+]][%[[i]]]
// CHECK: loop.for "r_i_tail_copy" %[[c:[a-z0-9_]+]] to 2 unrolled {
// CHECK-NEXT: %[[x:[a-z0-9_]+]] = loop.load %[[sum]][%[[c]]]
// CHECK-NEXT: loop.store %[[x]], %[[copy:[0-9]+]][%[[c]]]
// CHECK: loop.for "r_i_tail" %[[r:[a-z0-9_]+]] to %[[rows]] unroll = disable {
// CHECK-NEXT: loop.load %[[copy]][%[[r]]]
// CHECK-NOT: scf.if
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y[%{{[a-z0-9_]+}} * 2 + %[[r]] + %n floordiv 6 * 6]
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

// Rows without sums are computed one by one.
// CHECK-LABEL: @square
// CHECK: loop.for "i_o" %i_o to %i_o_full {
// CHECK-NEXT: loop.for "i_i" %{{[a-z0-9_]+}} to 6 unrolled {
// CHECK: loop.for "i_i_tail" %{{[a-z0-9_]+}} to %i_o_rest unroll = disable {
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

// The conditions stay if a result reads a sum under a condition: a copy would read it always.
// CHECK-LABEL: @conditional
// CHECK-NOT: loop.for "r_o_rest"
// CHECK: loop.for "r_i_tail" %{{[a-z0-9_]+}} to 6 unrolled {
// CHECK: scf.if
// CHECK: func.return
func.func private @conditional(%X: memref<?x9xf32> {loop.extents = array<i64: 0>},
                               %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %c: i1, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("r", 6), compute_at("sum", "r_o"), reorder("k", "i"), unroll("i"), unroll("r_i")]>} {
  %T = memref.alloc(%n) : memref<?xf32>
  loop.for "i" %i to %n {
    loop.for "k" %k to 9 {
      loop.block "sum" (%vi : spatial %n = %i, %vk : reduce 9 = %k) reads(%X) writes(%T) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %T[%vi] : memref<?xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<?x9xf32>
        %t = loop.load %T[%vi] : memref<?xf32>
        %s = arith.addf %t, %x : f32
        loop.store %s, %T[%vi] : memref<?xf32>
      }
    }
  }
  loop.for "r" %r to %n {
    loop.block "chosen" (%vr : spatial %n = %r) reads(%T) writes(%Y) {
      %y = scf.if %c -> (f32) {
        %t = loop.load %T[%vr] : memref<?xf32>
        scf.yield %t : f32
      } else {
        %zero = arith.constant 0.0 : f32
        scf.yield %zero : f32
      }
      loop.store %y, %Y[%vr] : memref<?xf32>
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
