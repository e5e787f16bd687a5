// RUN: xrelay-opt %s -p memref-hoist-allocations | filecheck %s

// The allocation and its free are hoisted out of both loops; the size is known before them.
// CHECK-LABEL: func.func private @rows
// CHECK:         %b = memref.alloc(%m) : memref<?xf32>
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        "test.op"(%b)
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %b
// CHECK-NEXT:    func.return
func.func private @rows(%n: index, %m: index) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %b = memref.alloc(%m) : memref<?xf32>
      "test.op"(%b) : (memref<?xf32>) -> ()
      memref.dealloc %b : memref<?xf32>
    }
  }
  func.return
}

// The first size depends on the loop; the second buffer is allocated conditionally, the third is not freed.
// CHECK-LABEL: func.func private @stays
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc(%i)
// CHECK:           scf.if
// CHECK-NEXT:        memref.alloc(%n)
// CHECK:           memref.alloc() : memref<4xf32>
func.func private @stays(%n: index, %c: i1) attributes {xrelay.kernel = "k"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc(%i) : memref<?xf32>
    "test.op"(%a) : (memref<?xf32>) -> ()
    memref.dealloc %a : memref<?xf32>
    scf.if %c {
      %b = memref.alloc(%n) : memref<?xf32>
      memref.dealloc %b : memref<?xf32>
    }
    %d = memref.alloc() : memref<4xf32>
    "test.op"(%d) : (memref<4xf32>) -> ()
  }
  func.return
}

// A function that is no kernel is unchanged.
// CHECK-LABEL: func.func @main
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
func.func @main(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc(%n) : memref<?xf32>
    memref.dealloc %b : memref<?xf32>
  }
  func.return
}
