// RUN: xrelay-opt %s --split-input-file -p loop-plan-memory | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p loop-plan-memory | xrelay-opt --split-input-file | filecheck %s

// Three buffers of a chain share two offsets; each argument is marked, since no call passes a buffer twice.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME: {llvm.noalias}, %b: memref<100xf32> {llvm.noalias})
func.func private @k(%a: memref<100xf32>, %b: memref<100xf32>) attributes {loop.kernel} {
  func.return
}

// CHECK: func.func @main(%x: memref<100xf32>, %y: memref<100xf32>, %arena: memref<896xi8> {loop.arena})
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[C1:.*]] = arith.constant 448 : index
// CHECK: memref.view %arena[%[[C0]]][] : memref<896xi8> to memref<100xf32>
// CHECK: memref.view %arena[%[[C1]]][] : memref<896xi8> to memref<100xf32>
// CHECK: memref.view %arena[%[[C0]]][] : memref<896xi8> to memref<100xf32>
// CHECK-NOT: memref.alloc
func.func @main(%x: memref<100xf32>, %y: memref<100xf32>) attributes {loop.num_outputs = 1 : i64} {
  %s = memref.alloc() : memref<100xf32>
  %t = memref.alloc() : memref<100xf32>
  %u = memref.alloc() : memref<100xf32>
  func.call @k(%x, %s) : (memref<100xf32>, memref<100xf32>) -> ()
  func.call @k(%s, %t) : (memref<100xf32>, memref<100xf32>) -> ()
  func.call @k(%t, %u) : (memref<100xf32>, memref<100xf32>) -> ()
  func.call @k(%u, %y) : (memref<100xf32>, memref<100xf32>) -> ()
  func.return
}

// -----

// One call of @add passes a buffer twice: those two arguments may overlap, the third does not.
// CHECK-LABEL: func.func private @add
// CHECK-SAME: (%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32> {llvm.noalias})
func.func private @add(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  func.return
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  func.call @add(%x, %y, %z) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.call @add(%x, %x, %y) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// -----

// A view aliases its buffer: it keeps it live, and overlaps it.
// CHECK-LABEL: func.func private @k
// CHECK-SAME: (%a: memref<4xf32>, %b: memref<2x2xf32>)
// CHECK: %arena: memref<128xi8>
func.func private @k(%a: memref<4xf32>, %b: memref<2x2xf32>) {
  func.return
}
func.func @main(%y: memref<2x2xf32>) {
  %s = memref.alloc() : memref<4xf32>
  %v = "memref.expand_shape"(%s) {reassociation = [[0 : i64, 1 : i64]], static_output_shape = array<i64: 2, 2>} : (memref<4xf32>) -> memref<2x2xf32>
  %t = memref.alloc() : memref<4xf32>
  func.call @k(%t, %y) : (memref<4xf32>, memref<2x2xf32>) -> ()
  func.call @k(%s, %v) : (memref<4xf32>, memref<2x2xf32>) -> ()
  func.call @k(%t, %v) : (memref<4xf32>, memref<2x2xf32>) -> ()
  func.return
}

// -----

// A kernel's own allocations are in the arena too; buffers of dynamic size and returned ones stay.
// CHECK-LABEL: func.func private @softmax
// CHECK-SAME: %x: memref<8xf32> {llvm.noalias}, %t: memref<8xf32> {llvm.noalias}) attributes {loop.kernel, loop.num_scratch = 1 : i64}
// CHECK-NEXT: %l = memref.alloc() : memref<4xf32, "local">
// CHECK-NEXT: memref.copy
// CHECK: func.func @main
// CHECK: memref.view %arena
// CHECK-SAME: memref<64xi8> to memref<8xf32>
// CHECK: %d = memref.alloc(%n) : memref<?xf32>
// CHECK: %r = memref.alloc() : memref<8xf32>
func.func private @softmax(%x: memref<8xf32>) attributes {loop.kernel} {
  %t = memref.alloc() : memref<8xf32>
  %l = memref.alloc() : memref<4xf32, "local">
  "memref.copy"(%x, %t) : (memref<8xf32>, memref<8xf32>) -> ()
  "memref.copy"(%l, %l) : (memref<4xf32, "local">, memref<4xf32, "local">) -> ()
  memref.dealloc %t : memref<8xf32>
  func.return
}
func.func @main(%x: memref<8xf32>, %n: index) -> memref<8xf32> {
  func.call @softmax(%x) : (memref<8xf32>) -> ()
  %d = memref.alloc(%n) : memref<?xf32>
  %r = memref.alloc() : memref<8xf32>
  "memref.copy"(%x, %r) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return %r : memref<8xf32>
}

// -----

// So are the allocations in loops of one thread; each thread of a parallel loop has its own buffer.
// CHECK-LABEL: func.func private @tiles
// CHECK-SAME:    %x: memref<8xf32> {llvm.noalias}, %s: memref<8xf32> {llvm.noalias}) attributes {loop.kernel, loop.num_scratch = 1 : i64
// CHECK-NOT:     memref.alloc
// CHECK:         loop.for "i" {{.*}} parallel
// CHECK-NEXT:      loop.for "j"
// CHECK-NEXT:        %t = memref.alloc() : memref<8xf32>
func.func private @tiles(%x: memref<8xf32>) attributes {loop.kernel} {
  loop.for "k" %k to 4 {
    %s = memref.alloc() : memref<8xf32>
    "memref.copy"(%x, %s) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  loop.for "i" %i to 4 parallel {
    loop.for "j" %j to 4 {
      %t = memref.alloc() : memref<8xf32>
      "memref.copy"(%x, %t) : (memref<8xf32>, memref<8xf32>) -> ()
    }
  }
  func.return
}
func.func @main(%x: memref<8xf32>) {
  func.call @tiles(%x) : (memref<8xf32>) -> ()
  func.return
}

// -----

// Branches share memory; a buffer that a loop reads and that is made before it stays allocated until the loop ends.
// CHECK-LABEL: func.func private @in_regions(
// CHECK-SAME:    %x: memref<8xf32> {llvm.noalias}, %r: memref<8xf32> {llvm.noalias})
// CHECK:         %arena: memref<192xi8>
// CHECK-NEXT:    %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[B:.*]] = arith.constant 64 : index
// CHECK-NEXT:    %[[F:.*]] = arith.constant 128 : index
// CHECK:         %a = memref.view %arena[%[[A]]][]
// CHECK:         scf.if
// CHECK-NEXT:      %b = memref.view %arena[%[[B]]][]
// CHECK:         } else {
// CHECK-NEXT:      %d = memref.view %arena[%[[B]]][]
// CHECK:         scf.for
// CHECK-NEXT:      %e = memref.view %arena[%[[B]]][]
// CHECK-NEXT:      func.call @in_regions(%a, %e)
// CHECK-NEXT:      %f = memref.view %arena[%[[F]]][]
func.func private @in_regions(%x: memref<8xf32>, %r: memref<8xf32>) {
  "memref.copy"(%x, %r) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %c: i1) attributes {loop.num_outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %a = memref.alloc() : memref<8xf32>
  func.call @in_regions(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  scf.if %c {
    %b = memref.alloc() : memref<8xf32>
    func.call @in_regions(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
    func.call @in_regions(%b, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  } else {
    %d = memref.alloc() : memref<8xf32>
    func.call @in_regions(%a, %d) : (memref<8xf32>, memref<8xf32>) -> ()
    func.call @in_regions(%d, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  scf.for %i = %zero to %ten step %one {
    %e = memref.alloc() : memref<8xf32>
    func.call @in_regions(%a, %e) : (memref<8xf32>, memref<8xf32>) -> ()
    %f = memref.alloc() : memref<8xf32>
    func.call @in_regions(%e, %f) : (memref<8xf32>, memref<8xf32>) -> ()
    func.call @in_regions(%f, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  func.return
}

// -----

// A stack buffer of a kernel is not freed.
// CHECK-LABEL: func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %arena: memref<0xi8>
// CHECK: memref.alloc() : memref<4xf32, "local">
// CHECK-NOT: memref.dealloc
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "o" %o to 1 {
    %t = memref.alloc() : memref<4xf32, "local">
    loop.for "i" %i to 4 {
      %a = loop.load %x[%i] : memref<4xf32>
      loop.store %a, %t[%i] : memref<4xf32, "local">
    }
    loop.for "j" %j to 4 {
      %b = loop.load %t[%j] : memref<4xf32, "local">
      loop.store %b, %y[%j] : memref<4xf32>
    }
  }
  func.return
}
