// Buffers with dynamic strides are accessed as one row of elements.
// RUN: xrelay-opt %s -p loop-lower-blocks,convert-loop-to-scf | filecheck %s
// RUN: xrelay-opt %s -p convert-loop-to-scf,convert-scf-parallel-to-calls | filecheck %s --check-prefix BODY

// Every stride is a multiple of the innermost size; lanes along the row remain vectors.
// CHECK-LABEL: @square(%X: memref<?x?xf32> {llvm.noalias}, %Y: memref<?x?xf32>, %n: index, %m: index)
// CHECK: %[[size:[0-9]+]] = arith.muli %m, %n overflow<nsw,nuw>
// CHECK-NEXT: %[[X:X_1]] = memref.reinterpret_cast %X to offset: [0], sizes: [%[[size]]], strides: [1] : memref<?x?xf32> to memref<?xf32>
// Without columns nothing is stored, so that the loop over rows is empty.
// CHECK: %[[none:[0-9]+]] = arith.cmpi eq, %m, %{{[0-9]+}} : index
// CHECK-NEXT: %[[rows:n_[0-9]+]] = arith.select %[[none]], %{{[0-9]+}}, %n : index
// CHECK: "scf.parallel"(%{{[0-9]+}}, %[[rows]], %{{[0-9]+}})
// CHECK: ^bb0(%i: index):
// CHECK: scf.for %j_o
// CHECK-NEXT: %[[row:[0-9]+]] = arith.muli %i, %m overflow<nsw,nuw>
// CHECK-NEXT: %[[tile:[0-9]+]] = arith.muli %j_o, %{{[0-9]+}} overflow<nsw,nuw>
// CHECK-NEXT: %[[place:[0-9]+]] = arith.addi %[[row]], %[[tile]] overflow<nsw,nuw>
// CHECK-NEXT: vector.load %[[X]][%[[place]]] : memref<?xf32>, vector<8xf32>
// The arguments of the loop body have the attributes of the kernel's buffers.
// BODY: func.func private @square_parallel_0(%n: index, %m: index, %X: memref<?xf32> {llvm.noalias}, %Y: memref<?xf32>
func.func private @square(%X: memref<?x?xf32> {loop.extents = array<i64: 0, 1>, llvm.noalias},
                          %Y: memref<?x?xf32> {loop.extents = array<i64: 0, 1>}, %n: index, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %c8 = arith.constant 8 : index
  %tiles = arith.divui %m, %c8 : index
  loop.for "i" %i to %n parallel {
    loop.for "j_o" %j_o to %tiles {
      loop.for "j_i" %j_i to 8 vectorized {
        %x = loop.load %X[%i, %j_o * 8 + %j_i] : memref<?x?xf32>
        %p = arith.mulf %x, %x : f32
        loop.store %p, %Y[%i, %j_o * 8 + %j_i] : memref<?x?xf32>
      }
    }
  }
  func.return
}

// An outermost size is no factor of a stride: all strides are static.
// CHECK-LABEL: @first
// CHECK-NOT: memref.reinterpret_cast
// CHECK: memref.load %X[%i, %{{[0-9]+}}] : memref<?x4xf32>
func.func private @first(%X: memref<?x4xf32> {loop.extents = array<i64: 0>},
                         %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    %x = loop.load %X[%i, 0] : memref<?x4xf32>
    loop.store %x, %Y[%i] : memref<?xf32>
  }
  func.return
}

// Strides of three dimensions, in an allocation, and a quotient by a size.
// CHECK-LABEL: @fold
// CHECK: %[[plane:[0-9]+]] = arith.muli %n, %{{[0-9]+}} overflow<nsw,nuw>
// CHECK: %[[whole:[0-9]+]] = arith.muli %[[plane]], %m overflow<nsw,nuw>
// CHECK: %T = memref.alloc(%[[whole]]) : memref<?xf32>
// CHECK: arith.divui %i, %n {loop.positive_divisor}
// CHECK: arith.remui %i, %n {loop.positive_divisor}
// CHECK: memref.load %T[
// CHECK: memref.dealloc %T
func.func private @fold(%Y: memref<?xf32> {loop.extents = array<i64: 2>}, %n: index, %m: index, %k: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %T = memref.alloc(%m, %n) : memref<?x?x4xf32>
  loop.for "i" %i to %k {
    %x = loop.load %T[%i floordiv %n, %i mod %n, 1] : memref<?x?x4xf32>
    loop.store %x, %Y[%i] : memref<?xf32>
  }
  func.return
}

// A function passes a buffer on in its original type.
// CHECK-LABEL: @forward
// CHECK-NOT: memref.reinterpret_cast
// CHECK: func.call @square(%X, %Y, %n, %m) : (memref<?x?xf32>, memref<?x?xf32>, index, index) -> ()
func.func private @forward(%X: memref<?x?xf32> {loop.extents = array<i64: 0, 1>},
                           %Y: memref<?x?xf32> {loop.extents = array<i64: 0, 1>}, %n: index, %m: index) {
  func.call @square(%X, %Y, %n, %m) : (memref<?x?xf32>, memref<?x?xf32>, index, index) -> ()
  func.return
}

// So does a function that also reads the buffer, and one that first casts an extent of its type away.
// CHECK-LABEL: @reads_and_hands_on
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %X
// CHECK: memref.load %[[ROW]][
// CHECK: %[[CAST:.*]] = "memref.cast"(%Y) : (memref<2x?x4xf32>) -> memref<?x?x4xf32>
// CHECK: func.call @cube(%X, %[[CAST]], %n) : (memref<2x?x4xf32>, memref<?x?x4xf32>, index) -> ()
func.func private @reads_and_hands_on(%X: memref<2x?x4xf32> {loop.extents = array<i64: 0>},
                                      %Y: memref<2x?x4xf32> {loop.extents = array<i64: 0>}, %n: index) {
  %i = arith.constant 1 : index
  %v = loop.load %X[%i, %i, %i] : memref<2x?x4xf32>
  %s = memref.alloc() : memref<f32>
  loop.store %v, %s[] : memref<f32>
  %c = "memref.cast"(%Y) : (memref<2x?x4xf32>) -> memref<?x?x4xf32>
  func.call @cube(%X, %c, %n) : (memref<2x?x4xf32>, memref<?x?x4xf32>, index) -> ()
  func.return
}
func.func private @cube(memref<2x?x4xf32>, memref<?x?x4xf32>, index)
