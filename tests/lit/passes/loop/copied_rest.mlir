// The rows after the full tiles of an instruction are those of a full tile of a copy, whose last row repeats.
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks | filecheck %s

// The copy is made once, before the loop over the stack on which the data do not depend.
// CHECK-LABEL: @rows
// CHECK: %rest = memref.alloc() : memref<16x64xui8, "local">
// CHECK: %[[last:[0-9]+]] = arith.cmpi slt, %{{[0-9]+}}, %n
// CHECK-NEXT: scf.if %[[last]] {
// CHECK-NEXT: loop.for "rest_0" %[[r:[a-z0-9_]+]] to 16 {
// CHECK: %[[row:[0-9]+]] = arith.minsi
// CHECK-NEXT: loop.for "rest_1" %[[c:[a-z0-9_]+]] to 64 {
// CHECK-NEXT: %[[x:[0-9]+]] = loop.load %X[%[[row]], %[[c]]] : memref<?x64xui8>
// CHECK-NEXT: loop.store %[[x]], %rest[%[[r]], %[[c]]] : memref<16x64xui8, "local">
// CHECK: loop.for "b" %b to 3 {
// CHECK: loop.for "i_o" %i_o to %i_o_full {
// CHECK-NOT: %rest
// CHECK: scf.if %{{[0-9]+}} {
// CHECK: loop.for "k_tail" %[[k:[a-z0-9_]+]] to 16 tensorized {
// CHECK-NEXT: loop.for "m_tail" %[[m:[a-z0-9_]+]] to 16 unrolled {
// CHECK-NOT: scf.if
// CHECK: loop.load %rest[%[[m]], %[[k]] * 4 + %{{[a-z0-9_]+}}] : memref<16x64xui8, "local">
// CHECK: scf.if
// CHECK: loop.store %{{[a-z0-9_]+}}, %Y[
func.func private @rows(%X: memref<?x64xui8> {loop.extents = array<i64: 0>}, %W: memref<3x16x16x4xi8>,
                        %Y: memref<3x?x16xi32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("i", 16), compute_at("sum", "i_o"), reorder("k", "m", "o", "t"), contract("t", "o"), unroll("m"),
      tensorize("k", "tdpbusd"), vectorize("j")]>} {
  %T = memref.alloc(%n) : memref<3x?x16xi32>
  loop.for "s" %s to 3 {
    loop.for "m" %m to %n {
      loop.for "o" %o to 16 {
        loop.for "k" %k to 16 {
          loop.for "t" %t to 4 {
            loop.block "sum" (%vs : spatial 3 = %s, %vi : spatial %n = %m, %vj : spatial 16 = %o, %vk : reduce 16 = %k,
                              %vt : reduce 4 = %t) reads(%X, %W) writes(%T) init {
              %zero = arith.constant 0 : i32
              loop.store %zero, %T[%vs, %vi, %vj] : memref<3x?x16xi32>
            } {
              %acc = loop.load %T[%vs, %vi, %vj] : memref<3x?x16xi32>
              %x = loop.load %X[%vi, %vk * 4 + %vt] : memref<?x64xui8>
              %w = loop.load %W[%vs, %vk, %vj, %vt] : memref<3x16x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %sum = arith.addi %acc, %p : i32
              loop.store %sum, %T[%vs, %vi, %vj] : memref<3x?x16xi32>
            }
          }
        }
      }
    }
  }
  loop.for "b" %b to 3 {
    loop.for "i" %i to %n {
      loop.for "j" %j to 16 {
        loop.block "store" (%vb : spatial 3 = %b, %vi : spatial %n = %i, %vj : spatial 16 = %j) reads(%T) writes(%Y) {
          %x = loop.load %T[%vb, %vi, %vj] : memref<3x?x16xi32>
          loop.store %x, %Y[%vb, %vi, %vj] : memref<3x?x16xi32>
        }
      }
    }
  }
  func.return
}

// Rows of a matrix of a stack are copied inside of the loop over matrices.
// CHECK-LABEL: @stack
// CHECK: loop.for "b" %b to 3 {
// CHECK: %rest = memref.alloc() : memref<1x16x64xui8, "local">
// CHECK: loop.load %X[%b, %{{[0-9]+}}, %{{[a-z0-9_]+}}] : memref<3x?x64xui8>
// CHECK: loop.for "i_o" %i_o to %i_o_full {
// CHECK: loop.for "k_tail" %[[k:[a-z0-9_]+]] to 16 tensorized {
// CHECK: loop.load %rest[0, %{{[a-z0-9_]+}}, %[[k]] * 4 + %{{[a-z0-9_]+}}] : memref<1x16x64xui8, "local">
func.func private @stack(%X: memref<3x?x64xui8> {loop.extents = array<i64: 0>}, %W: memref<3x16x16x4xi8>,
                         %Y: memref<3x?x16xi32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[
      split("i", 16), compute_at("sum", "i_o"), reorder("k", "m", "o", "t"), contract("t", "o"), unroll("m"),
      tensorize("k", "tdpbusd"), vectorize("j")]>} {
  %T = memref.alloc(%n) : memref<3x?x16xi32>
  loop.for "s" %s to 3 {
    loop.for "m" %m to %n {
      loop.for "o" %o to 16 {
        loop.for "k" %k to 16 {
          loop.for "t" %t to 4 {
            loop.block "sum" (%vs : spatial 3 = %s, %vi : spatial %n = %m, %vj : spatial 16 = %o, %vk : reduce 16 = %k,
                              %vt : reduce 4 = %t) reads(%X, %W) writes(%T) init {
              %zero = arith.constant 0 : i32
              loop.store %zero, %T[%vs, %vi, %vj] : memref<3x?x16xi32>
            } {
              %acc = loop.load %T[%vs, %vi, %vj] : memref<3x?x16xi32>
              %x = loop.load %X[%vs, %vi, %vk * 4 + %vt] : memref<3x?x64xui8>
              %w = loop.load %W[%vs, %vk, %vj, %vt] : memref<3x16x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %sum = arith.addi %acc, %p : i32
              loop.store %sum, %T[%vs, %vi, %vj] : memref<3x?x16xi32>
            }
          }
        }
      }
    }
  }
  loop.for "b" %b to 3 {
    loop.for "i" %i to %n {
      loop.for "j" %j to 16 {
        loop.block "store" (%vb : spatial 3 = %b, %vi : spatial %n = %i, %vj : spatial 16 = %j) reads(%T) writes(%Y) {
          %x = loop.load %T[%vb, %vi, %vj] : memref<3x?x16xi32>
          loop.store %x, %Y[%vb, %vi, %vj] : memref<3x?x16xi32>
        }
      }
    }
  }
  func.return
}
