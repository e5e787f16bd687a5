// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s

// Buffers that @main returns are outputs with dynamic names; loop.place is their number among all outputs.
// CHECK: xrelay.outputs = [{name = "rows", type = tensor<?x4xf32, #relay.dims<k>>}, {name = "y", type = tensor<4xf32>}, {name = "output2", type = tensor<?xf32, #relay.dims<2 * k>>}]

// Buffers that are yielded, carried or returned, also as views, are not freed; others are freed at the end of their block.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    attributes {loop.num_outputs = 1 : i64, xrelay.graph}
// CHECK:         scf.if
// CHECK-NEXT:      %[[A:.*]] = memref.alloc(%n)
// CHECK-NEXT:      %[[T:.*]] = memref.alloc(%n)
// CHECK-NEXT:      func.call @k(%[[T]])
// CHECK-NEXT:      memref.dealloc %[[T]]
// CHECK-NEXT:      scf.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[B:.*]] = memref.alloc() : memref<8x4xf32>
// CHECK-NEXT:      %[[V:.*]] = memref.reinterpret_cast %[[B]]
// CHECK-NEXT:      scf.yield %[[V]]
// CHECK-NEXT:    }
// CHECK-NOT:     memref.dealloc
// CHECK:         func.return
func.func @main(%k: memref<i64>, %c: memref<i1>, %y: memref<4xf32> {relay.name = "y"})
    -> (memref<?xf32> {loop.dims = #relay.dims<2 * k>}, index,
        memref<?x4xf32> {relay.name = "rows", loop.dims = #relay.dims<k>, loop.place = 0 : i64}, index)
    attributes {loop.num_outputs = 1 : i64} {
  %0 = memref.load %k[] : memref<i64>
  %n = arith.index_cast %0 : i64 to index
  %any = memref.load %c[] : memref<i1>
  %r = scf.if %any -> (memref<?x4xf32>) {
    %a = memref.alloc(%n) : memref<?x4xf32>
    %t = memref.alloc(%n) : memref<?x4xf32>
    func.call @k(%t) : (memref<?x4xf32>) -> ()
    scf.yield %a : memref<?x4xf32>
  } else {
    %b = memref.alloc() : memref<8x4xf32>
    %v = memref.reinterpret_cast %b to offset: [0], sizes: [%n, 4], strides: [4, 1] : memref<8x4xf32> to memref<?x4xf32>
    scf.yield %v : memref<?x4xf32>
  }
  %two = arith.constant 2 : index
  %m = arith.muli %n, %two : index
  %s = memref.alloc(%m) : memref<?xf32>
  func.return %s, %m, %r, %n : memref<?xf32>, index, memref<?x4xf32>, index
}
func.func private @k(memref<?x4xf32>)

// The caller frees a buffer that the callee returns.
// CHECK-LABEL: func.func private @frees
// CHECK-SAME:    attributes {xrelay.graph}
// CHECK:         memref.dealloc
func.func private @frees(%x: memref<4xf32>) {
  %r, %n = func.call @made() : () -> (memref<?xf32>, index)
  func.call @takes(%r, %x, %n) : (memref<?xf32>, memref<4xf32>, index) -> ()
  memref.dealloc %r : memref<?xf32>
  func.return
}
func.func private @made() -> (memref<?xf32>, index)
func.func private @takes(memref<?xf32>, memref<4xf32>, index)

// A loop polls whether the run continues; it takes ownership of carried buffers.
// CHECK-LABEL: func.func @loops
// CHECK:         do {
// CHECK-NEXT:    ^{{.*}}(%[[I:.*]]: index, %[[B:.*]]: memref<?xf32>):
// CHECK-NEXT:      %goes_on = func.call @xrelay_poll() : () -> i1
// CHECK-NEXT:      cf.assert %goes_on, "cancelled"
// CHECK-NEXT:      memref.dealloc %[[B]]
// CHECK-NEXT:      %[[C:.*]] = memref.alloc(%[[I]])
// CHECK-NEXT:      scf.yield %[[I]], %[[C]]
// CHECK:         func.func private @xrelay_poll() -> i1
func.func @loops(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  %r:2 = scf.while (%i = %n, %b = %a) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %b : index, memref<?xf32>
  } do {
  ^bb0(%i: index, %b: memref<?xf32>):
    memref.dealloc %b : memref<?xf32>
    %c = memref.alloc(%i) : memref<?xf32>
    scf.yield %i, %c : index, memref<?xf32>
  }
  func.return
}
