// The vectors after the full tiles of a dynamic row are computed one at a time, and only those that have a lane in the row.
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks | filecheck %s

// CHECK-LABEL: @windows
// CHECK: loop.for "j_o" %j_o to %j_o_full {
// CHECK: loop.for "w_o" %{{[a-z0-9_]+}} to 4 unrolled {
// CHECK: loop.for "j_o_vectors" %[[t:[a-z0-9_]+]] to %{{[a-z0-9_]+}} unroll = disable {
// CHECK: loop.for "k_tail" %{{[a-z0-9_]+}} to 3 unrolled {
// CHECK: loop.for "w_o_tail" %{{[a-z0-9_]+}} to 1 unrolled {
// CHECK-NEXT: loop.for "w_v_tail" %[[lane:[a-z0-9_]+]] to 16 vectorized {
// CHECK: scf.if
// CHECK: loop.load %X[%[[t]] * 16 + %[[lane]] + %{{[a-z0-9_]+}} + %n floordiv 64 * 64]
// CHECK: func.return
func.func private @windows(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                           %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %m: index, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("j", 64), compute_at("sum", "j_o"), reorder("k", "w"),
      split("w", 16, names = ["w_o", "w_v"]), vectorize("w_v"), unroll("w_o"),
      split("j_i", 16, names = ["j_w", "j_v"]), vectorize("j_v"), unroll("j_w")]>} {
  %T = memref.alloc(%n) : memref<?xf32>
  loop.for "w" %w to %n {
    loop.for "k" %k to 3 {
      loop.block "sum" (%vw : spatial %n = %w, %vk : reduce 3 = %k) reads(%X) writes(%T) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %T[%vw] : memref<?xf32>
      } {
        %x = loop.load %X[%vw + %vk] : memref<?xf32>
        %t = loop.load %T[%vw] : memref<?xf32>
        %s = arith.addf %t, %x : f32
        loop.store %s, %T[%vw] : memref<?xf32>
      }
    }
  }
  loop.for "j" %j to %n {
    loop.block "copy" (%vj : spatial %n = %j) reads(%T) writes(%Y) {
      %t = loop.load %T[%vj] : memref<?xf32>
      loop.store %t, %Y[%vj] : memref<?xf32>
    }
  }
  func.return
}

// Windows of more than 64 terms are not unrolled.
// CHECK-LABEL: @long_windows
// CHECK: loop.for "w_o_vectors"
// CHECK: loop.for "k_tail" %{{[a-z0-9_]+}} to 65 unroll = disable {
func.func private @long_windows(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                                %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %m: index, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("w", 64), reorder("w_o", "k", "w_i"), split("w_i", 16, names = ["w_w", "w_v"]), vectorize("w_v"), unroll("w_w")]>} {
  loop.for "w" %w to %n {
    loop.for "k" %k to 65 {
      loop.block "sum" (%vw : spatial %n = %w, %vk : reduce 65 = %k) reads(%X) writes(%Y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %Y[%vw] : memref<?xf32>
      } {
        %x = loop.load %X[%vw + %vk] : memref<?xf32>
        %t = loop.load %Y[%vw] : memref<?xf32>
        %s = arith.addf %t, %x : f32
        loop.store %s, %Y[%vw] : memref<?xf32>
      }
    }
  }
  func.return
}

// A row without buffers of its own has no other elements to move.
// CHECK-LABEL: @copy
// CHECK: loop.for "j_o_vectors"
// CHECK: loop.for "j_w_tail" %{{[a-z0-9_]+}} to 1 unrolled {
func.func private @copy(%X: memref<?xf32> {loop.extents = array<i64: 0>},
                        %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("j", 64), split("j_i", 16, names = ["j_w", "j_v"]), vectorize("j_v"), unroll("j_w")]>} {
  loop.for "j" %j to %n {
    loop.block "copy" (%vj : spatial %n = %j) reads(%X) writes(%Y) {
      %x = loop.load %X[%vj] : memref<?xf32>
      loop.store %x, %Y[%vj] : memref<?xf32>
    }
  }
  func.return
}

// A tile of several rows keeps its vectors: their loads of the other operand are shared.
// CHECK-LABEL: @rows
// CHECK-NOT: "j_o_vectors"
// CHECK: loop.for "j_w_tail" %{{[a-z0-9_]+}} to 4 unrolled {
func.func private @rows(%X: memref<3x?xf32> {loop.extents = array<i64: 0>},
                        %Y: memref<3x?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("j", 64), split("j_i", 16, names = ["j_w", "j_v"]), reorder("j_o", "i", "j_w"), vectorize("j_v"), unroll("j_w"),
      unroll("i")]>} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to %n {
      loop.block "copy" (%vi : spatial 3 = %i, %vj : spatial %n = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<3x?xf32>
        loop.store %x, %Y[%vi, %vj] : memref<3x?xf32>
      }
    }
  }
  func.return
}

// The tiles of a product of several rows begin so early that all columns are in the domain, or there is one tile with
// masks if there are fewer columns.
// CHECK-LABEL: @product
// CHECK: %[[PARTIAL:[0-9]+]] = arith.cmpi slt, %j_o_full, %j_o_extent : index
// CHECK: arith.cmpi slt, %n, %{{[0-9]+}} : index
// CHECK-NEXT: scf.if
// CHECK-NEXT: scf.if %[[PARTIAL]]
// CHECK: loop.for "w_v_tail" %[[V:[a-z0-9_]+]] to 16 vectorized {
// CHECK: scf.if
// CHECK: loop.load %B[%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} * 16 + %[[V]]]
// CHECK: } else {
// CHECK-NEXT: loop.for "j_o" %[[J:[a-z0-9_]+]] to %j_o_extent {
// CHECK: %[[TILE:[0-9]+]] = arith.muli %[[J]]
// CHECK: %[[C:[0-9]+]] = arith.constant -32 : index
// CHECK-NEXT: %[[LAST:[0-9]+]] = arith.addi %n, %[[C]]
// CHECK-NEXT: %[[FIRST:[0-9]+]] = arith.minsi %[[TILE]], %[[LAST]]
// CHECK: loop.for "w_v" %{{[a-z0-9_]+}} to 16 vectorized {
// CHECK-NEXT: %{{[a-z0-9_]+}} = loop.load %X[%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]
// CHECK-NEXT: %{{[a-z0-9_]+}} = loop.load %B[%{{[a-z0-9_]+}}, %[[FIRST]] + {{.*}}]
// CHECK-NOT: scf.if
// CHECK: func.return
func.func private @product(%X: memref<3x8xf32>, %B: memref<8x?xf32> {loop.extents = array<i64: 0>},
                           %Y: memref<3x?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("j", 32), reorder("j_o", "i", "j_i"), compute_at("sum", "j_o"), reorder("k", "r", "w"),
      split("w", 16, names = ["w_o", "w_v"]), vectorize("w_v"), unroll("w_o"), unroll("r"),
      split("j_i", 16, names = ["j_w", "j_v"]), vectorize("j_v"), unroll("j_w"), unroll("i")]>} {
  %T = memref.alloc(%n) : memref<3x?xf32>
  loop.for "r" %r to 3 {
    loop.for "w" %w to %n {
      loop.for "k" %k to 8 {
        loop.block "sum" (%vr : spatial 3 = %r, %vw : spatial %n = %w, %vk : reduce 8 = %k) reads(%X, %B) writes(%T) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %T[%vr, %vw] : memref<3x?xf32>
        } {
          %x = loop.load %X[%vr, %vk] : memref<3x8xf32>
          %b = loop.load %B[%vk, %vw] : memref<8x?xf32>
          %p = arith.mulf %x, %b : f32
          %t = loop.load %T[%vr, %vw] : memref<3x?xf32>
          %s = arith.addf %t, %p : f32
          loop.store %s, %T[%vr, %vw] : memref<3x?xf32>
        }
      }
    }
  }
  loop.for "i" %i to 3 {
    loop.for "j" %j to %n {
      loop.block "copy" (%vi : spatial 3 = %i, %vj : spatial %n = %j) reads(%T) writes(%Y) {
        %t = loop.load %T[%vi, %vj] : memref<3x?xf32>
        loop.store %t, %Y[%vi, %vj] : memref<3x?xf32>
      }
    }
  }
  func.return
}

// Each iteration of a parallel loop selects a tile.
// CHECK-LABEL: @product_in_parallel
// CHECK: loop.for "j_o" %[[J:[a-z0-9_]+]] to %j_o_extent parallel {
// CHECK: arith.cmpi slt, %n, %{{[0-9]+}} : index
// CHECK-NEXT: scf.if
// CHECK: loop.for "w_v_tail"
// CHECK: } else {
// CHECK: arith.minsi
// CHECK: loop.for "w_v"
// CHECK-NOT: scf.if
// CHECK: func.return
func.func private @product_in_parallel(%X: memref<3x8xf32>, %B: memref<8x?xf32> {loop.extents = array<i64: 0>},
                           %Y: memref<3x?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("j", 32), reorder("j_o", "i", "j_i"), compute_at("sum", "j_o"), reorder("k", "r", "w"),
      split("w", 16, names = ["w_o", "w_v"]), vectorize("w_v"), unroll("w_o"), unroll("r"),
      split("j_i", 16, names = ["j_w", "j_v"]), vectorize("j_v"), unroll("j_w"), unroll("i"), parallelize("j_o")]>} {
  %T = memref.alloc(%n) : memref<3x?xf32>
  loop.for "r" %r to 3 {
    loop.for "w" %w to %n {
      loop.for "k" %k to 8 {
        loop.block "sum" (%vr : spatial 3 = %r, %vw : spatial %n = %w, %vk : reduce 8 = %k) reads(%X, %B) writes(%T) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %T[%vr, %vw] : memref<3x?xf32>
        } {
          %x = loop.load %X[%vr, %vk] : memref<3x8xf32>
          %b = loop.load %B[%vk, %vw] : memref<8x?xf32>
          %p = arith.mulf %x, %b : f32
          %t = loop.load %T[%vr, %vw] : memref<3x?xf32>
          %s = arith.addf %t, %p : f32
          loop.store %s, %T[%vr, %vw] : memref<3x?xf32>
        }
      }
    }
  }
  loop.for "i" %i to 3 {
    loop.for "j" %j to %n {
      loop.block "copy" (%vi : spatial 3 = %i, %vj : spatial %n = %j) reads(%T) writes(%Y) {
        %t = loop.load %T[%vi, %vj] : memref<3x?xf32>
        loop.store %t, %Y[%vi, %vj] : memref<3x?xf32>
      }
    }
  }
  func.return
}
