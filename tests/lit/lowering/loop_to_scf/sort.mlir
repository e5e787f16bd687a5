// RUN: xrelay-opt %s -p loop-lower-blocks,convert-loop-to-scf | filecheck %s

// Insertion sort of runs of eight; then merge passes, which keep at most three elements of a run.
// CHECK-LABEL: func.func private @top3
// CHECK: "scf.parallel"
// CHECK-DAG: %[[N:.*]] = arith.constant 100 : index
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[K:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[T:.*]] = %[[ZERO]] to %[[N]]
// CHECK-NEXT: %[[KEY:.*]] = memref.load %X[%[[T]], %i]
// CHECK: scf.while
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[WIDTH]], {{.*}} = %[[N]], {{.*}} = %[[ZERO]]) -> (index, index, index) {
// CHECK: arith.minsi {{.*}}, %[[K]] : index
// CHECK: scf.for {{.*}} -> (index, index) {
// CHECK: arith.cmpf ugt, %{{.*}}, %[[LEFT:.*]] : f32
// CHECK: arith.cmpf ord, %[[LEFT]], %[[LEFT]] : f32
// CHECK: arith.select
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[K]]
func.func private @top3(%X: memref<100x4xf32>, %V: memref<3x4xf32>, %I: memref<3x4xi64>, %a: memref<4x200xf32>, %b: memref<4x200xi64>) {
  loop.for "i" %i to 4 parallel {
    loop.block "sort" (%v : spatial 4 = %i) reads(%X) writes(%V, %I, %a, %b) {
      loop.sort %X[%v] into %V, %I scratch %a, %b {axis = 0 : i64, descending}
        : memref<100x4xf32>, memref<3x4xf32>, memref<3x4xi64>, memref<4x200xf32>, memref<4x200xi64>
    }
  }
  func.return
}

// One run needs no pass. Unsigned integers are compared as unsigned.
// CHECK-LABEL: func.func private @short
// CHECK-NOT: iter_args
// CHECK: arith.cmpi ult, {{.*}} : i8
func.func private @short(%X: memref<8xui8>, %V: memref<8xui8>, %I: memref<8xi64>, %a: memref<16xui8>, %b: memref<16xi64>) {
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, unsigned}
    : memref<8xui8>, memref<8xui8>, memref<8xi64>, memref<16xui8>, memref<16xi64>
  func.return
}

// Dynamic extents: passes end when one run is left.
// CHECK-LABEL: func.func private @named
// CHECK: scf.for %{{.*}} to %n
// CHECK: %[[MOST:.*]] = arith.maxsi %k
// CHECK: scf.while (%[[W:.*]] = %{{.*}}, %[[LEFT:.*]] = %n, %{{.*}} = %{{.*}}) : (index, index, index) -> (index, index, index) {
// CHECK-NEXT: %[[ON:.*]] = arith.cmpi sgt, %[[LEFT]], %[[W]] : index
// CHECK-NEXT: scf.condition(%[[ON]])
// CHECK: arith.minsi %{{.*}}, %[[MOST]]
// CHECK: scf.for %{{.*}} to %k
func.func private @named(%X: memref<?xf32> {loop.extents = array<i64: 0>}, %V: memref<?xf32> {loop.extents = array<i64: 1>},
                         %I: memref<?xi64> {loop.extents = array<i64: 1>}, %a: memref<?xf32> {loop.extents = array<i64: 2>},
                         %b: memref<?xi64> {loop.extents = array<i64: 2>}, %n: index, %k: index, %twice: index)
    attributes {loop.kernel} {
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<?xf32>, memref<?xf32>, memref<?xi64>, memref<?xf32>, memref<?xi64>
  func.return
}
