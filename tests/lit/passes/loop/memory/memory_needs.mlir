// The memory of a run besides the arena: kernels' allocations, as functions of the names' sizes.
// RUN: xrelay-opt %s --split-input-file -p loop-plan-memory | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p loop-plan-memory | xrelay-opt --split-input-file | filecheck %s

// A row per thread, whose length is an argument. An allocation in a serial loop exists once; small local buffers are on
// the stack. Two consecutive loops do not allocate at the same time.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: loop.heap = [{bytes = 4 : i64, extents = array<i64: 1>, each_thread}, {bytes = 127 : i64, extents = array<i64>, each_thread}, {bytes = 12 : i64, extents = array<i64: 0>}, {bytes = 127 : i64, extents = array<i64>}]
func.func private @rows(%x: memref<?x?xf32>, %n: index, %m: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n parallel {
    %row = memref.alloc(%m) : memref<?xf32>
    %one = memref.alloc() : memref<4xf32, "local">
    "test.op"(%row, %one) : (memref<?xf32>, memref<4xf32, "local">) -> ()
  }
  loop.for "j" %j to %n {
    %row = memref.alloc(%n) : memref<?xf32>
    "test.op"(%row) : (memref<?xf32>) -> ()
  }
  loop.for "k" %k to %n {
    %row = memref.alloc(%n) : memref<?x3xf32>
    "test.op"(%row) : (memref<?x3xf32>) -> ()
  }
  func.return
}

// -----

// Kernels count at their calls, with the maximum of all calls, capped at 2^61. Dynamic buffers are not counted.
// CHECK-LABEL: func.func @main(%x: memref<?xf32>
// CHECK-SAME: loop.needs = {uncounted = ["a buffer of memref<?xf32> (free)"]}
// CHECK: func.func @main_plan(%sizes: memref<3xi64>, %n: index {xrelay.dim = "n"})
// CHECK: %[[KERNELS:.*]] = arith.constant 3.200000e+01 : f64
// CHECK: arith.mulf %[[KERNELS]], {{.*}} : f64
// CHECK: arith.constant 2.305843009213694e+18 : f64
// CHECK-NEXT: arith.minimumf
// CHECK-NEXT: arith.fptosi
// CHECK: arith.constant 0.000000e+00 : f64
func.func private @big(%x: memref<?xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    %row = memref.alloc(%n) : memref<?x4xf32>
    "test.op"(%row) : (memref<?x4xf32>) -> ()
  }
  func.return
}
func.func @main(%x: memref<?xf32> {loop.dims = #relay.dims<n>}, %k: memref<i64>, %n: index {xrelay.dim = "n"}) attributes {loop.num_outputs = 0 : i64} {
  func.call @big(%x, %n) : (memref<?xf32>, index) -> ()
  %c2 = arith.constant 2 : index
  %m = arith.muli %n, %c2 : index
  func.call @big(%x, %m) : (memref<?xf32>, index) -> ()
  %d = memref.load %k[] : memref<i64>
  %g = arith.index_cast %d : i64 to index
  %h = memref.alloc(%g) {xrelay.sources = ["free"]} : memref<?xf32>
  "test.op"(%h) : (memref<?xf32>) -> ()
  func.return
}

// -----

// Constant needs are an attribute. Not counted: allocations of functions other than @main, and calls with extents
// without a bound.
// CHECK-LABEL: func.func @main(%x: memref<4xf32>
// CHECK-SAME: loop.needs = {kernels = 1151 : i64, uncounted = ["buffers of the kernel @row {{.*}}", "allocations of @near"]}
func.func @main(%x: memref<4xf32>, %n: index) attributes {loop.num_outputs = 0 : i64} {
  func.call @top(%x, %n) : (memref<4xf32>, index) -> ()
  func.return
}
func.func private @top(%x: memref<4xf32>, %n: index) {
  func.call @near(%x) : (memref<4xf32>) -> ()
  func.call @row(%x, %n) : (memref<4xf32>, index) -> ()
  func.return
}
func.func private @near(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  "test.op"(%a) : (memref<16xf32>) -> ()
  %c256 = arith.constant 256 : index
  func.call @row(%x, %c256) : (memref<4xf32>, index) -> ()
  func.return
}
func.func private @row(%x: memref<4xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    %row = memref.alloc(%n) : memref<?xf32>
    "test.op"(%row) : (memref<?xf32>) -> ()
  }
  func.return
}

// -----

// An index that is not known to be the size of a name: the needs are unknown.
// CHECK: func.func @main(%n: index {xrelay.dim = "n"}, %m: index, {{.*}}uncounted = ["a buffer of memref<?xf32> {{.*}}"]
func.func @main(%n: index {xrelay.dim = "n"}, %m: index) attributes {loop.num_outputs = 0 : i64} {
  %s = memref.alloc(%m) : memref<?xf32>
  func.return
}
