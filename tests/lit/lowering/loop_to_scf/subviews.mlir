// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s
// RUN: xrelay-opt %s -p convert-loop-to-scf,stage-llvm | filecheck --check-prefix=LLVM %s

// A part of a view is a view of the same bytes, at a constant or computed offset.
// CHECK-LABEL: func.func @main
// CHECK:         %[[AT:.*]] = arith.constant 96 : index
// CHECK:         %p = memref.view %arena[%[[AT]]][] : memref<4096xi8> to memref<2x4xf32>
// CHECK:         %[[BYTES:.*]] = arith.muli %n, %{{.*}} overflow<nsw> : index
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[BYTES]], %{{.*}} overflow<nsw> : index
// CHECK-NEXT:    %q = memref.view %arena[%[[SUM]]][%n] : memref<4096xi8> to memref<?x4xf32>
// CHECK-NEXT:    func.call @two(%p)
// CHECK-NEXT:    func.call @rows(%q, %n)

// Other parts are sliced as a row, whose type hides the offset from kernels.
// CHECK:         %[[ROW:.*]] = memref.reinterpret_cast %y to offset: [%{{.*}}], sizes: [%{{.*}}], strides: [1] : memref<6x4xf32> to memref<?xf32, strided<[1], offset: ?>>
// CHECK-NEXT:    %o = builtin.unrealized_conversion_cast %[[ROW]] : memref<?xf32, strided<[1], offset: ?>> to memref<2x4xf32>
// CHECK-NEXT:    func.call @two(%o)

// LLVM-LABEL:    llvm.func @main
// LLVM-NOT:      unrealized_conversion_cast
func.func @main(%y: memref<6x4xf32> {relay.name = "y"}, %arena: memref<4096xi8> {loop.arena}, %n: index {xrelay.dim = "n"})
    attributes {loop.num_outputs = 1 : i64} {
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %t = memref.view %arena[%c64][] : memref<4096xi8> to memref<6x4xf32>
  %p = loop.subview %t[%c8][] : memref<6x4xf32> to memref<2x4xf32>
  %q = loop.subview %t[%n][%n] : memref<6x4xf32> to memref<?x4xf32>
  func.call @two(%p) : (memref<2x4xf32>) -> ()
  func.call @rows(%q, %n) : (memref<?x4xf32>, index) -> ()
  %o = loop.subview %y[%c8][] : memref<6x4xf32> to memref<2x4xf32>
  func.call @two(%o) : (memref<2x4xf32>) -> ()
  func.return
}
func.func private @two(%r: memref<2x4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @rows(%r: memref<?x4xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
