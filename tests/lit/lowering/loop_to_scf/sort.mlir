// RUN: xrelay-opt %s -p loop-lower-blocks,convert-loop-to-scf | filecheck %s

// The keys sort as unsigned integers; the values of each byte are counted, and one pass per byte sorts by it.
// CHECK-LABEL: func.func private @long
// CHECK: "scf.parallel"
// CHECK-DAG: %[[N:.*]] = arith.constant 100 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[NUMBER:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i32
// CHECK: %[[COUNTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xindex>
// CHECK: %[[ELEMENT:.*]] = memref.load %X
// CHECK-NEXT: arith.bitcast %[[ELEMENT]] : f32 to i32
// CHECK: arith.cmpf oeq, %[[ELEMENT]]
// CHECK: arith.cmpf uno, %[[ELEMENT]], %[[ELEMENT]]
// CHECK-NEXT: %[[ASCENDING:.*]] = arith.select
// CHECK-NEXT: arith.xori %[[ASCENDING]], %[[NONE]]
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[NUMBER]] {{.*}} iter_args(%[[HALF:.*]] = %[[ZERO]])
// CHECK: %[[COMMON:.*]] = memref.load %[[COUNTS]]
// CHECK-NEXT: arith.cmpi eq, %[[COMMON]], %[[N]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: scf.yield %[[HALF]]
// CHECK: arith.subi %[[N]], %[[HALF]]
// CHECK-NEXT: scf.for %{{.*}} = %[[ZERO]] to %[[BYTES]]
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[N]]
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[N]]
// CHECK: memref.load %X
func.func private @long(%X: memref<100x4xf32>, %V: memref<100x4xf32>, %I: memref<100x4xi64>, %a: memref<4x200xi32>, %b: memref<4x200xi64>) {
  loop.for "i" %i to 4 parallel {
    loop.block "sort" (%v : spatial 4 = %i) reads(%X) writes(%V, %I, %a, %b) {
      loop.sort %X[%v] into %V, %I scratch %a, %b {axis = 0 : i64, descending}
        : memref<100x4xf32>, memref<100x4xf32>, memref<100x4xi64>, memref<4x200xi32>, memref<4x200xi64>
    }
  }
  func.return
}

// A short row is sorted by insertion. The key of an unsigned integer is the integer.
// CHECK-LABEL: func.func private @short
// CHECK: %[[ELEMENT:.*]] = memref.load %X
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: memref.store %[[ELEMENT]], %a
// CHECK-NOT: iter_args
// CHECK: scf.while
// CHECK: arith.cmpi ult, {{.*}} : i8
func.func private @short(%X: memref<8xui8>, %V: memref<8xui8>, %I: memref<8xi64>, %a: memref<16xi8>, %b: memref<16xi64>) {
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, unsigned}
    : memref<8xui8>, memref<8xui8>, memref<8xi64>, memref<16xi8>, memref<16xi64>
  func.return
}

// A row of dynamic length is short or long. Booleans have keys of a byte.
// CHECK-LABEL: func.func private @named
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<256xindex>
// CHECK: scf.for %{{.*}} to %n
// CHECK: arith.extui {{.*}} : i1 to i8
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %n, %{{.*}} : index
// CHECK: scf.if %[[SHORT]] -> (index) {
func.func private @named(%X: memref<?xi1> {loop.extents = array<i64: 0>}, %V: memref<?xi1> {loop.extents = array<i64: 0>},
                         %I: memref<?xi64> {loop.extents = array<i64: 0>}, %a: memref<?xi8> {loop.extents = array<i64: 1>},
                         %b: memref<?xi64> {loop.extents = array<i64: 1>}, %n: index, %twice: index)
    attributes {loop.kernel} {
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, unsigned}
    : memref<?xi1>, memref<?xi1>, memref<?xi64>, memref<?xi8>, memref<?xi64>
  func.return
}
