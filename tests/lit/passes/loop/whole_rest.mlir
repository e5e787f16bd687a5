// The rows after the full tiles of an instruction are those of a full tile, if the data has enough elements.
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks | filecheck %s

// The last tile reads 16 rows and 2 more for the taps. Only the store tests for the last row.
// CHECK-LABEL: @taps
// CHECK-NOT: %rest
// CHECK: loop.for "i_o" %i_o to %i_o_full {
// CHECK: scf.if %{{[0-9]+}} {
// CHECK: %[[needed:[0-9]+]] = arith.constant 18 : index
// CHECK-NEXT: %[[short:[0-9]+]] = arith.cmpi slt, %{{[0-9]+}}, %[[needed]] : index
// CHECK-NEXT: scf.if %[[short]] {
// CHECK: loop.for "i_o_rows"
// CHECK: loop.for "m_tail_row" %{{[a-z0-9_]+}} to 1 unrolled {
// CHECK: } else {
// CHECK-NOT: scf.if
// CHECK: loop.for "k_tail" %[[k:[a-z0-9_]+]] to 16 tensorized {
// CHECK-NEXT: loop.for "m_tail" %[[m:[a-z0-9_]+]] to 16 unrolled {
// CHECK: loop.load %X[%[[m]] + %{{[a-z0-9_]+}} + %n floordiv 16 * 16, %[[k]] * 4 + %{{[a-z0-9_]+}}] : memref<?x64xui8>
// CHECK: scf.if
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y[
func.func private @taps(%X: memref<?x64xui8> {loop.extents = array<i64: 1>}, %W: memref<3x16x16x4xi8>,
                        %Y: memref<?x16xi32> {loop.extents = array<i64: 0>}, %n: index, %size: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("i", 16), compute_at("sum", "i_o"), reorder("y", "k", "m", "o", "t"), contract("t", "o"), unroll("m"),
      tensorize("k", "tdpbusd"), vectorize("j")]>} {
  %T = memref.alloc(%n) : memref<?x16xi32>
  loop.for "m" %m to %n {
    loop.for "o" %o to 16 {
      loop.for "y" %y to 3 {
        loop.for "k" %k to 16 {
          loop.for "t" %t to 4 {
            loop.block "sum" (%vi : spatial %n = %m, %vj : spatial 16 = %o, %vy : reduce 3 = %y, %vk : reduce 16 = %k,
                              %vt : reduce 4 = %t) reads(%X, %W) writes(%T) init {
              %zero = arith.constant 0 : i32
              loop.store %zero, %T[%vi, %vj] : memref<?x16xi32>
            } {
              %acc = loop.load %T[%vi, %vj] : memref<?x16xi32>
              %x = loop.load %X[%vi + %vy, %vk * 4 + %vt] : memref<?x64xui8>
              %w = loop.load %W[%vy, %vk, %vj, %vt] : memref<3x16x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %sum = arith.addi %acc, %p : i32
              loop.store %sum, %T[%vi, %vj] : memref<?x16xi32>
            }
          }
        }
      }
    }
  }
  loop.for "i" %i to %n {
    loop.for "j" %j to 16 {
      loop.block "store" (%vi : spatial %n = %i, %vj : spatial 16 = %j) reads(%T) writes(%Y) {
        %x = loop.load %T[%vi, %vj] : memref<?x16xi32>
        loop.store %x, %Y[%vi, %vj] : memref<?x16xi32>
      }
    }
  }
  func.return
}

// Without instructions on tiles, the rest is smaller tiles.
// CHECK-LABEL: @vectors
// CHECK: loop.for "i_o_few"
func.func private @vectors(%X: memref<?x64xui8> {loop.extents = array<i64: 1>}, %W: memref<16x16x4xi8>,
                           %Y: memref<?x16xi32> {loop.extents = array<i64: 0>}, %n: index, %size: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("i", 16), compute_at("sum", "i_o"), reorder("k", "m", "o", "t"), contract("t", "o"), unroll("m"),
      vectorize("j")]>} {
  %T = memref.alloc(%n) : memref<?x16xi32>
  loop.for "m" %m to %n {
    loop.for "o" %o to 16 {
      loop.for "k" %k to 16 {
        loop.for "t" %t to 4 {
          loop.block "sum" (%vi : spatial %n = %m, %vj : spatial 16 = %o, %vk : reduce 16 = %k, %vt : reduce 4 = %t)
              reads(%X, %W) writes(%T) init {
            %zero = arith.constant 0 : i32
            loop.store %zero, %T[%vi, %vj] : memref<?x16xi32>
          } {
            %acc = loop.load %T[%vi, %vj] : memref<?x16xi32>
            %x = loop.load %X[%vi, %vk * 4 + %vt] : memref<?x64xui8>
            %w = loop.load %W[%vk, %vj, %vt] : memref<16x16x4xi8>
            %xe = arith.extui %x : i8 to i32
            %we = arith.extsi %w : i8 to i32
            %p = arith.muli %xe, %we : i32
            %sum = arith.addi %acc, %p : i32
            loop.store %sum, %T[%vi, %vj] : memref<?x16xi32>
          }
        }
      }
    }
  }
  loop.for "i" %i to %n {
    loop.for "j" %j to 16 {
      loop.block "store" (%vi : spatial %n = %i, %vj : spatial 16 = %j) reads(%T) writes(%Y) {
        %x = loop.load %T[%vi, %vj] : memref<?x16xi32>
        loop.store %x, %Y[%vi, %vj] : memref<?x16xi32>
      }
    }
  }
  func.return
}
