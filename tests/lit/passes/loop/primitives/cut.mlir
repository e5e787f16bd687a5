// RUN: xrelay-opt %s -p 'loop-cut{loop=w first=1 last=1},loop-cut{loop=n_w first=2 last=1},loop-cut{loop=c last=3}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=w},loop-cut{loop=w first=1}' 2>&1 | filecheck %s --check-prefix KIND
// RUN: not xrelay-opt %s -p 'loop-cut{loop=w first=6 last=5}' 2>&1 | filecheck %s --check-prefix SHORT
// RUN: not xrelay-opt %s -p 'loop-cut{loop=n_w first=3 last=2}' 2>&1 | filecheck %s --check-prefix OPEN
// RUN: not xrelay-opt %s -p 'loop-cut{loop=k first=1}' 2>&1 | filecheck %s --check-prefix SUM
// RUN: not xrelay-opt %s -p 'loop-cut{loop=w}' 2>&1 | filecheck %s --check-prefix EMPTY

// KIND: error: cut("w", first = 1): loop 'w': it is unrolled already; help: cut it before making it unrolled
// SHORT: error: cut("w", first = 6, last = 5): loop 'w': it may have fewer than 11 iterations; help: cut fewer iterations
// OPEN: error: cut("n_w", first = 3, last = 2): loop 'n_w': it may have fewer than 5 iterations
// SUM: error: cut("k", first = 1): loop 'k': block 'sum' accumulates in its iterations
// EMPTY: error: cut: a part must have iterations, got 0 and 0

// CHECK-LABEL: @edge
// CHECK: loop.for "w_first" %[[F:.*]] to 1 {
// CHECK-NEXT: loop.block "edge_first" (%{{.*}} : spatial 10 = %[[F]])
// CHECK-NOT: scf.if
// CHECK: loop.load %X[0]
// CHECK: loop.for "w" %[[W:.*]] to 8 {
// CHECK-NEXT: loop.block "edge" (%[[V:.*]] : spatial 10 = %[[W]] + 1)
// CHECK-NEXT: %{{.*}} = loop.load %X[%[[V]] - 1]
// CHECK-NEXT: loop.store
// CHECK: loop.for "w_last" %[[L:.*]] to 1 {
// CHECK-NEXT: loop.block "edge_last" (%{{.*}} : spatial 10 = %[[L]] + 9)
func.func private @edge(%X: memref<8xf32>, %Y: memref<10xf32>) attributes {loop.kernel} {
  loop.for "w" %w to 10 {
    loop.block "edge" (%v : spatial 10 = %w) reads(%X) writes(%Y) {
      %one = arith.constant 1 : index
      %eight = arith.constant 8 : index
      %at = arith.subi %v, %one : index
      %inside = arith.cmpi ult, %at, %eight : index
      %x = scf.if %inside -> (f32) {
        %a = loop.load %X[%v - 1] : memref<8xf32>
        scf.yield %a : f32
      } else {
        %b = loop.load %X[0] : memref<8xf32>
        scf.yield %b : f32
      }
      loop.store %x, %Y[%v] : memref<10xf32>
    }
  }
  func.return
}

// With a dynamic extent, the middle part covers the rest; the branch within its range is undecided.
// CHECK-LABEL: @open
// CHECK: %n_w_extent = arith.addi %n, %{{.*}} overflow<nsw,nuw> : index
// CHECK: loop.for "n_w_first" %{{.*}} to 2 {
// CHECK: loop.for "n_w" %{{.*}} to %n_w_extent {
// CHECK: scf.if
// CHECK: loop.for "n_w_last" %[[L:.*]] to 1 {
// CHECK-NEXT: loop.block "open_last" (%{{.*}} : spatial %{{.*}} = %[[L]] + %n + 3)
// CHECK-NOT: scf.if
// CHECK: loop.store
func.func private @open(%X: memref<?xf32> {loop.extents = array<i64: 0>}, %Y: memref<?xf32>, %n: index) attributes {loop.kernel} {
  %four = arith.constant 4 : index
  %m = arith.addi %n, %four : index
  loop.for "n_w" %w to %m {
    loop.block "open" (%v : spatial %m = %w) reads(%X) writes(%Y) {
      %inside = arith.cmpi ult, %v, %n : index
      %x = scf.if %inside -> (f32) {
        %a = loop.load %X[%v] : memref<?xf32>
        scf.yield %a : f32
      } else {
        %b = arith.constant 0.0 : f32
        scf.yield %b : f32
      }
      loop.store %x, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}

// A part without iterations has no loop, and a sum is not cut.
// CHECK-LABEL: @sum
// CHECK-NOT: "c_first"
// CHECK: loop.for "c" %{{.*}} to 5 {
// CHECK: loop.for "c_last" %[[L:.*]] to 3 {
// CHECK-NEXT: loop.block "copy_last" (%{{.*}} : spatial 8 = %[[L]] + 5)
// CHECK: loop.for "k" %{{.*}} to 8 {
func.func private @sum(%X: memref<8xf32>, %Y: memref<8xf32>, %Z: memref<f32>) attributes {loop.kernel} {
  loop.for "c" %c to 8 {
    loop.block "copy" (%v : spatial 8 = %c) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<8xf32>
      loop.store %x, %Y[%v] : memref<8xf32>
    }
  }
  loop.for "k" %k to 8 {
    loop.block "sum" (%v : reduce 8 = %k) reads(%X) writes(%Z) init {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %Z[] : memref<f32>
    } {
      %x = loop.load %X[%v] : memref<8xf32>
      %y = loop.load %Z[] : memref<f32>
      %s = arith.addf %x, %y : f32
      loop.store %s, %Z[] : memref<f32>
    }
  }
  func.return
}

// A branch inside of a region that does not run goes with it.
// CHECK-LABEL: @nested
// CHECK: loop.for "w_first"
// CHECK-NOT: scf.if
// CHECK: loop.load %X[0]
// CHECK: loop.for "w" %
func.func private @nested(%X: memref<8xf32>, %Y: memref<10xf32>) attributes {loop.kernel} {
  loop.for "w" %w to 10 {
    loop.block "nested" (%v : spatial 10 = %w) reads(%X) writes(%Y) {
      %one = arith.constant 1 : index
      %five = arith.constant 5 : index
      %eight = arith.constant 8 : index
      %at = arith.subi %v, %one : index
      %inside = arith.cmpi ult, %at, %eight : index
      %x = scf.if %inside -> (f32) {
        %low = arith.cmpi ult, %v, %five : index
        %c = scf.if %low -> (f32) {
          %a = loop.load %X[%v - 1] : memref<8xf32>
          scf.yield %a : f32
        } else {
          %zero = arith.constant 0.0 : f32
          scf.yield %zero : f32
        }
        scf.yield %c : f32
      } else {
        %b = loop.load %X[0] : memref<8xf32>
        scf.yield %b : f32
      }
      loop.store %x, %Y[%v] : memref<10xf32>
    }
  }
  func.return
}
