// The memory of a run besides the arena: dynamic buffers, and kernels' allocations, as functions of the names' sizes.
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

// Needs known in advance are an attribute of the function: buffers that are not live together are not added up.
// CHECK-LABEL: func.func @main(%k: memref<i64>
// CHECK-SAME: loop.needs = {dynamic_buffers = 320 : i64, uncounted = ["a buffer of memref<?xf32> (free)"]}
func.func @main(%k: memref<i64>) attributes {loop.num_outputs = 0 : i64} {
  %0 = memref.load %k[] : memref<i64>
  %e = arith.index_cast %0 : i64 to index
  %c16 = arith.constant 16 : index
  %ok = arith.cmpi sge, %c16, %e : index
  cf.assert %ok, "16 >= e"
  %a = memref.alloc(%e) : memref<?xf32>
  "test.op"(%a) : (memref<?xf32>) -> ()
  %b = memref.alloc(%e) : memref<?x2xf32>
  "test.op"(%b) : (memref<?x2xf32>) -> ()
  %c = memref.alloc(%e) : memref<?xf32>
  "test.op"(%b, %c) : (memref<?x2xf32>, memref<?xf32>) -> ()
  %f = arith.addi %e, %e : index
  %d = memref.load %k[] : memref<i64>
  %g = arith.index_cast %d : i64 to index
  %h = memref.alloc(%g) {xrelay.sources = ["free"]} : memref<?xf32>
  "test.op"(%h) : (memref<?xf32>) -> ()
  func.return
}

// -----

// One of two branches runs. A loop that carries one buffer has two while it computes the next. Kernels count at their
// calls.
// CHECK-LABEL: func.func @main(%x: memref<?xf32>
// CHECK-NOT: loop.needs
// CHECK: func.func @main_plan(%sizes: memref<4xi64>, %n: index {xrelay.dim = "n"})
// CHECK: %[[BUFFERS:.*]] = arith.constant 4.000000e+01 : f64
// CHECK: arith.mulf %[[BUFFERS]], {{.*}} : f64
// CHECK: arith.fptosi
// CHECK: %[[KERNELS:.*]] = arith.constant 1.600000e+01 : f64
// CHECK: arith.mulf %[[KERNELS]], {{.*}} : f64
// CHECK: arith.fptosi
// CHECK: arith.constant 0.000000e+00 : f64
func.func private @big(%x: memref<?xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    %row = memref.alloc(%n) : memref<?x4xf32>
    "test.op"(%row) : (memref<?x4xf32>) -> ()
  }
  func.return
}
func.func @main(%x: memref<?xf32> {loop.dims = #relay.dims<n>}, %p: i1, %n: index {xrelay.dim = "n"}) attributes {loop.num_outputs = 0 : i64} {
  func.call @big(%x, %n) : (memref<?xf32>, index) -> ()
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r = scf.if %p -> (memref<?xf32>) {
    %a = memref.alloc(%n) : memref<?xf32>
    scf.yield %a : memref<?xf32>
  } else {
    %m = arith.muli %n, %c2 : index
    %b = memref.alloc(%m) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  %s = scf.while (%v = %r) : (memref<?xf32>) -> (memref<?xf32>) {
    "test.op"(%v) : (memref<?xf32>) -> ()
    scf.condition(%p) %v : memref<?xf32>
  } do {
  ^bb0(%v: memref<?xf32>):
    %m = arith.muli %n, %c2 : index
    %w = memref.alloc(%m) : memref<?x2xf32>
    %c = memref.reinterpret_cast %w to offset: [0], sizes: [%m], strides: [1] : memref<?x2xf32> to memref<?xf32>
    memref.dealloc %v : memref<?xf32>
    scf.yield %c : memref<?xf32>
  }
  memref.dealloc %s : memref<?xf32>
  func.return
}

// -----

// Functions besides @main count with their frames along a chain of calls: @deep next to @near or @far, the larger one.
// The buffers of a function that only @main calls are in the arena.
// Not counted: recursive functions, returned buffers, unbounded allocations, and calls of unknown functions.
// CHECK-LABEL: func.func @main(%x: memref<4xf32>
// CHECK-SAME: loop.needs = {dynamic_buffers = 448 : i64, kernels = 1151 : i64, uncounted = ["frames of @again, which calls itself", "allocations of @gives", "allocations of @open", "allocations of @unnamed"]}
func.func @main(%x: memref<4xf32>, %n: index) attributes {loop.num_outputs = 0 : i64} {
  func.call @top(%x, %n) : (memref<4xf32>, index) -> ()
  func.return
}
func.func private @top(%x: memref<4xf32>, %n: index) {
  func.call @near(%x) : (memref<4xf32>) -> ()
  func.call @far(%x) : (memref<4xf32>) -> ()
  func.call @open(%n) : (index) -> ()
  %0 = func.call @gives() : () -> memref<4xf32>
  memref.dealloc %0 : memref<4xf32>
  func.call @again(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @near(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  func.call @deep(%x) : (memref<4xf32>) -> ()
  "test.op"(%a) : (memref<16xf32>) -> ()
  func.return
}
func.func private @far(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<32xf32>
  func.call @deep(%x) : (memref<4xf32>) -> ()
  "test.op"(%a) : (memref<32xf32>) -> ()
  func.return
}
func.func private @deep(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<32xf32>
  "test.op"(%a, %b) : (memref<16xf32>, memref<32xf32>) -> ()
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
func.func private @again(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  "test.op"(%a) : (memref<16xf32>) -> ()
  func.call @again(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @gives() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  func.return %a : memref<4xf32>
}
func.func private @open(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  "test.op"(%a) : (memref<?xf32>) -> ()
  func.return
}
func.func private @unnamed(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<16xf32>
  "test.op"(%a) : (memref<16xf32>) -> ()
  func.return
}

// -----

// An index that is not known to be the size of a name: the needs are unknown.
// CHECK: func.func @main(%n: index {xrelay.dim = "n"}, %m: index, {{.*}}uncounted = ["a buffer of memref<?xf32> {{.*}}"]
func.func @main(%n: index {xrelay.dim = "n"}, %m: index) attributes {loop.num_outputs = 0 : i64} {
  %s = memref.alloc(%m) : memref<?xf32>
  func.return
}
