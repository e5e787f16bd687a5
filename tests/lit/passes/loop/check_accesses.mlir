// RUN: xrelay-opt %s -p loop-check-accesses --split-input-file | filecheck %s

// A condition proves that a read is in bounds: nothing is checked. The other branch has the comparison's negation.
// CHECK-LABEL: @guarded
// CHECK-NOT: loop.checked_index
func.func private @guarded(%x: memref<4xf32>, %y: memref<6xf32>) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  loop.for "i" %i to 6 {
    %low = arith.cmpi sge, %i, %one : index
    %high = arith.cmpi ult, %i, %five : index
    %inside = arith.andi %low, %high : i1
    %v = scf.if %inside -> (f32) {
      %0 = loop.load %x[%i - 1] : memref<4xf32>
      scf.yield %0 : f32
    } else {
      %c = arith.constant 0.0 : f32
      scf.yield %c : f32
    }
    scf.if %high {
      loop.store %v, %y[%i] : memref<6xf32>
    } else {
      loop.store %v, %y[%i - 5] : memref<6xf32>
    }
  }
  func.return
}

// -----

// An access that no condition proves is checked at run time.
// CHECK-LABEL: @unguarded
func.func private @unguarded(%x: memref<4xf32>, %y: memref<4xf32>, %k: memref<4xi64>)
    attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  %two = arith.constant 2 : index
  loop.for "i" %i to 4 {
    %c = arith.cmpi ult, %i, %two : index
    scf.if %c {
      // CHECK: %[[A:.*]] = loop.checked_index %{{.*}} of 4
      // CHECK-NEXT: loop.load %{{.*}}[%[[A]]] : memref<4xf32>
      %0 = loop.load %x[%i + 3] : memref<4xf32>
      // CHECK-NEXT: loop.store %{{.*}}, %{{.*}}[%i] : memref<4xf32>
      loop.store %0, %y[%i] : memref<4xf32>
    }
    // CHECK: loop.load %{{.*}}[%i] : memref<4xi64>
    %n = loop.load %k[%i] : memref<4xi64>
    %p = arith.index_cast %n : i64 to index
    // CHECK: %[[P:.*]] = loop.checked_index %{{.*}} of 4
    // CHECK-NEXT: loop.load %{{.*}}[%[[P]]] : memref<4xf32>
    %1 = loop.load %x[%p] : memref<4xf32>
    %q = loop.checked_index %p of 4
    // CHECK: %[[Q:.*]] = loop.checked_index %{{.*}} of 4
    // CHECK-NEXT: loop.store %{{.*}}, %{{.*}}[%[[Q]]] : memref<4xf32>
    loop.store %1, %y[%q] : memref<4xf32>
  }
  func.return
}

// -----

// Dynamic extents.
// CHECK-LABEL: @open
func.func private @open(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %y: memref<?xf32> {loop.extents = array<i64: 1>},
    %n: index, %m: index) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  loop.for "i" %i to %n {
    // CHECK: loop.load %{{.*}}[%i] : memref<?xf32>
    %0 = loop.load %x[%i] : memref<?xf32>
    // CHECK: %[[C:.*]] = loop.checked_index %i of %m
    // CHECK-NEXT: loop.store %{{.*}}, %{{.*}}[%[[C]]] : memref<?xf32>
    loop.store %0, %y[%i] : memref<?xf32>
  }
  func.return
}
