// RUN: xrelay-opt %s -p loop-plan-memory | filecheck %s
// RUN: xrelay-opt %s -p loop-plan-memory,loop-plan-memory | filecheck %s

func.func private @k(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64}
func.func private @f(%a: memref<4xf32>) attributes {loop.kernel}

// Buffers of dynamic size are freed after their last use, including that of their slices; also scratch buffers.
// A returned buffer is freed by the caller. The rest stays in the arena.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %arena: memref<64xi8> {loop.arena}) -> (memref<?xf32>, index)
// CHECK:         %k = arith.index_cast
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %s = memref.view %arena
// CHECK-NEXT:    func.call @f(%s)
// CHECK-NEXT:    %a = memref.alloc(%k) : memref<?xf32>
// CHECK-NEXT:    %[[SCRATCH:.*]] = memref.alloc(%k) : memref<?xf32>
// CHECK-NEXT:    func.call @with_scratch(%a, %[[SCRATCH]], %k)
// CHECK-NEXT:    memref.dealloc %[[SCRATCH]] : memref<?xf32>
// CHECK-NEXT:    %cut = memref.reinterpret_cast %a
// CHECK-NEXT:    %b = memref.alloc(%k) : memref<?xf32>
// CHECK-NEXT:    func.call @k(%cut, %b, %k)
// CHECK-NEXT:    memref.dealloc %a : memref<?xf32>
// CHECK-NEXT:    %g, %h = scf.if %c -> (memref<?xf32>, memref<?xf32>) {
// CHECK-NEXT:      %[[T:.*]] = memref.alloc(%k)
// CHECK-NEXT:      %u = memref.alloc(%k)
// CHECK-NEXT:      func.call @k(%b, %[[T]], %k)
// CHECK-NEXT:      scf.yield %[[T]], %u
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %v = memref.alloc(%c4)
// CHECK-NEXT:      %w = memref.alloc(%k)
// CHECK-NEXT:      scf.yield %v, %w
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %h : memref<?xf32>
// CHECK-NEXT:    memref.dealloc %b : memref<?xf32>
// CHECK-NEXT:    %r, %e = scf.while (%[[I:.*]] = %g, %[[J:.*]] = %k) : (memref<?xf32>, index) -> (memref<?xf32>, index) {
// CHECK:         } do {
// CHECK-NEXT:    ^{{.*}}(%[[OLD:.*]]: memref<?xf32>, %{{.*}}: index):
// CHECK-NEXT:      %new = memref.alloc(%k)
// CHECK-NEXT:      func.call @k(%[[OLD]], %new, %k)
// CHECK-NEXT:      memref.dealloc %[[OLD]] : memref<?xf32>
// CHECK-NEXT:      scf.yield %new, %k
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r, %e
func.func @main(%c: i1, %n: memref<i64>) -> (memref<?xf32>, index) attributes {loop.num_outputs = 0 : i64} {
  %0 = memref.load %n[] : memref<i64>
  %k = arith.index_cast %0 : i64 to index
  %c4 = arith.constant 4 : index
  %s = memref.alloc() : memref<4xf32>
  func.call @f(%s) : (memref<4xf32>) -> ()
  %a = memref.alloc(%k) : memref<?xf32>
  func.call @with_scratch(%a, %k) : (memref<?xf32>, index) -> ()
  %cut = memref.reinterpret_cast %a to offset: [0], sizes: [%k], strides: [1] : memref<?xf32> to memref<?xf32>
  %b = memref.alloc(%k) : memref<?xf32>
  func.call @k(%cut, %b, %k) : (memref<?xf32>, memref<?xf32>, index) -> ()
  %g, %h = scf.if %c -> (memref<?xf32>, memref<?xf32>) {
    %t = memref.alloc(%k) : memref<?xf32>
    %u = memref.alloc(%k) : memref<?xf32>
    func.call @k(%b, %t, %k) : (memref<?xf32>, memref<?xf32>, index) -> ()
    scf.yield %t, %u : memref<?xf32>, memref<?xf32>
  } else {
    %v = memref.alloc(%c4) : memref<?xf32>
    %w = memref.alloc(%k) : memref<?xf32>
    scf.yield %v, %w : memref<?xf32>, memref<?xf32>
  }
  %r, %e = scf.while (%i = %g, %j = %k) : (memref<?xf32>, index) -> (memref<?xf32>, index) {
    scf.condition(%c) %i, %j : memref<?xf32>, index
  } do {
  ^bb0(%old: memref<?xf32>, %l: index):
    %new = memref.alloc(%k) : memref<?xf32>
    func.call @k(%old, %new, %k) : (memref<?xf32>, memref<?xf32>, index) -> ()
    scf.yield %new, %k : memref<?xf32>, index
  }
  func.return %r, %e : memref<?xf32>, index
}

func.func private @with_scratch(%a: memref<?xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %t = memref.alloc(%n) : memref<?xf32>
  "test.op"(%t) : (memref<?xf32>) -> ()
  func.return
}
