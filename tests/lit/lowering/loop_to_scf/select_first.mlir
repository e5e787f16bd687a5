// RUN: xrelay-opt %s -p loop-lower-blocks,convert-loop-to-scf | filecheck %s

// Sixteen elements at a time are compared with the limit; if any is a candidate, each candidate is appended. The last
// four elements are compared one by one. The sorted candidates move to the front; the last of them is the new limit.
// CHECK-LABEL: func.func private @top20
// CHECK-DAG: %[[ROOM:.*]] = arith.constant 104 : index
// CHECK-DAG: %[[K:.*]] = arith.constant 20 : index
// CHECK-DAG: %[[END:.*]] = arith.constant 500 : index
// CHECK: scf.while ({{.*}}) : (index, index, i32, i1)
// CHECK: scf.while
// CHECK: arith.cmpi sle, %{{.*}}, %[[ROOM]] : index
// CHECK: vector.load %X[%{{.*}}] : memref<500xf32>, vector<16xf32>
// CHECK: arith.cmpi ult, %{{.*}} : vector<16xi32>
// CHECK: scf.if %{{.*}} -> (index) {
// CHECK-NEXT: scf.for
// CHECK: memref.load %X
// CHECK: memref.store %{{.*}}, %a
// CHECK-NEXT: memref.store %{{.*}}, %b
// CHECK: arith.cmpi ult, %{{.*}} : i32
// CHECK: scf.while
// CHECK: memref.load %X
// CHECK: arith.minsi %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi slt, %{{.*}} : index
// CHECK-NEXT: scf.yield
// CHECK: scf.for %{{.*}} to %[[K]]
func.func private @top20(%X: memref<500xf32>, %V: memref<20xf32>, %I: memref<20xi64>, %a: memref<208xi32>, %b: memref<208xi64>) {
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, descending, selects}
    : memref<500xf32>, memref<20xf32>, memref<20xi64>, memref<208xi32>, memref<208xi64>
  func.return
}

// Without contiguous elements there are no vectors. Half of the scratch is for candidates.
// CHECK-LABEL: func.func private @named
// CHECK: %[[ROOM:.*]] = arith.divui %room, %{{.*}} : index
// CHECK: arith.maxsi %k
// CHECK-NOT: vector.load
// CHECK: scf.for %{{.*}} to %k
func.func private @named(%X: memref<?x4xf16> {loop.extents = array<i64: 0>}, %V: memref<?x4xf16> {loop.extents = array<i64: 1>},
                         %I: memref<?x4xi64> {loop.extents = array<i64: 1>}, %a: memref<4x?xi16> {loop.extents = array<i64: 2>},
                         %b: memref<4x?xi64> {loop.extents = array<i64: 2>}, %n: index, %k: index, %room: index)
    attributes {loop.kernel} {
  loop.for "i" %i to 4 {
    loop.block "sort" (%v : spatial 4 = %i) reads(%X) writes(%V, %I, %a, %b) {
      loop.sort %X[%v] into %V, %I scratch %a, %b {axis = 0 : i64, selects}
        : memref<?x4xf16>, memref<?x4xf16>, memref<?x4xi64>, memref<4x?xi16>, memref<4x?xi64>
    }
  }
  func.return
}

// Few elements are in order in the scratch: the first three of the row, then each that precedes the last of them.
// CHECK-LABEL: func.func private @top3
// CHECK-DAG: %[[LAST:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[K:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[LANES:.*]] = arith.constant 16 : index
// CHECK: scf.for %{{.*}} to %[[K]]
// CHECK: arith.divui %{{.*}}, %[[LANES]] : index
// CHECK-NEXT: scf.for
// CHECK: memref.load %a[%[[LAST]]]
// CHECK: vector.load %X[%{{.*}}] : memref<500xf32>, vector<16xf32>
// CHECK: scf.if
// CHECK-NEXT: scf.for %{{.*}} to %[[LANES]]
// CHECK: %[[LIMIT:.*]] = memref.load %a[%[[LAST]]]
// CHECK-NEXT: %[[PRECEDES:.*]] = arith.cmpi ult, %{{.*}}, %[[LIMIT]] : i32
// CHECK-NEXT: scf.if %[[PRECEDES]]
// CHECK: scf.while
// CHECK: scf.for %{{.*}} to %{{.*}}
// CHECK-NOT: memref.alloca
func.func private @top3(%X: memref<500xf32>, %V: memref<3xf32>, %I: memref<3xi64>, %a: memref<6xi32>, %b: memref<6xi64>) {
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, descending, selects}
    : memref<500xf32>, memref<3xf32>, memref<3xi64>, memref<6xi32>, memref<6xi64>
  func.return
}
