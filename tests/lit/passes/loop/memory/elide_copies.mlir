// RUN: xrelay-opt %s --split-input-file -p loop-elide-copies | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p loop-elide-copies,loop-plan-memory | filecheck --check-prefix=PLAN %s

// Results are stored in the concatenation, which one kernel reads; slices are read in place. The copies are removed.
// A part does not overlap the other one, so the kernels' arguments keep their mark.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %c = memref.alloc() : memref<6x4xf32>
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %a = loop.subview %c[%[[C0]]] [] : memref<6x4xf32> to memref<2x4xf32>
// CHECK-NEXT:    func.call @two(%x, %a)
// CHECK-NEXT:    %[[C8:.*]] = arith.constant 8 : index
// CHECK-NEXT:    %b = loop.subview %c[%[[C8]]] [] : memref<6x4xf32> to memref<4x4xf32>
// CHECK-NEXT:    func.call @four(%a, %b)
// CHECK-NEXT:    %[[C20:.*]] = arith.constant 20 : index
// CHECK-NEXT:    %d = loop.subview %c[%[[C20]]] [] : memref<6x4xf32> to memref<1x4xf32>
// CHECK-NEXT:    func.call @one(%d, %y)
// CHECK-NEXT:    func.return
// CHECK-NOT:   @concatenate
// CHECK-NOT:   @slice
// PLAN:        func.func @main({{.*}}%arena: memref<128xi8>
// PLAN:        func.func private @four(%x: memref<2x4xf32> {llvm.noalias}, %r: memref<4x4xf32> {llvm.noalias})
func.func @main(%x: memref<2x4xf32>, %y: memref<1x4xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<2x4xf32>
  func.call @two(%x, %a) : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  %b = memref.alloc() : memref<4x4xf32>
  func.call @four(%a, %b) : (memref<2x4xf32>, memref<4x4xf32>) -> ()
  %c = memref.alloc() : memref<6x4xf32>
  func.call @concatenate(%a, %b, %c) : (memref<2x4xf32>, memref<4x4xf32>, memref<6x4xf32>) -> ()
  %d = memref.alloc() : memref<1x4xf32>
  func.call @slice(%c, %d) : (memref<6x4xf32>, memref<1x4xf32>) -> ()
  func.call @one(%d, %y) : (memref<1x4xf32>, memref<1x4xf32>) -> ()
  func.return
}
func.func private @two(%x: memref<2x4xf32>, %r: memref<2x4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @four(%x: memref<2x4xf32>, %r: memref<4x4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @one(%x: memref<1x4xf32>, %r: memref<1x4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @concatenate(%p: memref<2x4xf32>, %q: memref<4x4xf32>, %r: memref<6x4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 6 {
    loop.for "j" %j to 4 {
      loop.block "concatenate" (%vi : spatial 6 = %i, %vj : spatial 4 = %j) reads(%p, %q) writes(%r) {
        %two = arith.constant 2 : index
        %first = arith.cmpi ult, %vi, %two : index
        %v = scf.if %first -> (f32) {
          %0 = loop.load %p[%vi, %vj] : memref<2x4xf32>
          scf.yield %0 : f32
        } else {
          %1 = loop.load %q[%vi - 2, %vj] : memref<4x4xf32>
          scf.yield %1 : f32
        }
        loop.store %v, %r[%vi, %vj] : memref<6x4xf32>
      }
    }
  }
  func.return
}
func.func private @slice(%p: memref<6x4xf32>, %r: memref<1x4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "j" %j to 4 {
    loop.block "slice" (%vi : spatial 1 = 0, %vj : spatial 4 = %j) reads(%p) writes(%r) {
      %0 = loop.load %p[%vi + 5, %vj] : memref<6x4xf32>
      loop.store %0, %r[%vi, %vj] : memref<1x4xf32>
    }
  }
  func.return
}

// -----

// A value used twice is stored in one part and copied to the other, which does not overlap it.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %c = memref.alloc() : memref<8xf32>
// CHECK:         %a = loop.subview %c[%{{.*}}] [] : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    func.call @k(%x, %a)
// CHECK-NEXT:    %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT:    %[[P:.*]] = loop.subview %c[%[[C4]]] [] : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    func.call @copy_part(%a, %[[P]]) {loop.copied = "%a is a view of %c already"}
// CHECK-NEXT:    func.call @l(%c, %y)
func.func @twice(%x: memref<4xf32>, %y: memref<8xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<4xf32>
  func.call @k(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  func.call @concatenate(%a, %a, %c) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  func.call @l(%c, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}

// A part of a part is placed, too; the concatenation may be an output.
// CHECK-LABEL: func.func @nested
// CHECK:         %c = loop.subview %y[%{{.*}}] [] : memref<16xf32> to memref<8xf32>
// CHECK:         %a = loop.subview %c[%{{.*}}] [] : memref<8xf32> to memref<4xf32>
// CHECK:         %b = loop.subview %c[%{{.*}}] [] : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    func.call @k(%a, %b)
// CHECK:         %d = loop.subview %y[%{{.*}}] [] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    func.call @l(%c, %d)
// CHECK-NEXT:    func.return
func.func @nested(%x: memref<4xf32>, %y: memref<16xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<4xf32>
  func.call @k(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  func.call @k(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  func.call @concatenate(%a, %b, %c) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  %d = memref.alloc() : memref<8xf32>
  func.call @l(%c, %d) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @join(%c, %d, %y) : (memref<8xf32>, memref<8xf32>, memref<16xf32>) -> ()
  func.return
}

// Unchanged: arguments, outputs and constants.
// CHECK-LABEL: func.func @main
// CHECK:         func.call @concatenate(%x, %y, %c) {loop.copied = "%x is an argument; %y is an output"}
// CHECK:         func.call @concatenate(%w, %w, %d) {loop.copied = "%w is not allocated here"}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<8xf32>) attributes {loop.num_outputs = 2 : i64} {
  func.call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  func.call @concatenate(%x, %y, %c) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  %w = loop.weight "w" : memref<4xf32>
  %d = memref.alloc() : memref<8xf32>
  func.call @concatenate(%w, %w, %d) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  func.call @add(%c, %d, %z) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  func.return
}

// Unchanged: values written again by an op that is no kernel; a concatenation that is used before, or changes while a
// part is needed; values that are returned, and values from another block.
// CHECK-LABEL: func.func @changed
// CHECK:         func.call @concatenate(%a, %b, %c) {loop.copied = "%a is written again; %c changes while %b is needed"}
// CHECK:         func.call @concatenate(%e, %e, %d) {loop.copied = "%d is used before"}
// CHECK:           func.call @concatenate(%e, %g, %h) {loop.copied = "%e and %h are not allocated in the block of the call; %g is transferred to another owner"}
func.func @changed(%x: memref<4xf32>, %v: f32, %q: i1, %y: memref<8xf32>) attributes {loop.num_outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  func.call @k(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  func.call @k(%x, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  func.call @concatenate(%a, %b, %c) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  memref.store %v, %a[%zero] : memref<4xf32>
  func.call @l(%y, %c) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @k(%b, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  %d = memref.alloc() : memref<8xf32>
  func.call @l(%c, %d) : (memref<8xf32>, memref<8xf32>) -> ()
  %e = memref.alloc() : memref<4xf32>
  func.call @k(%x, %e) : (memref<4xf32>, memref<4xf32>) -> ()
  func.call @concatenate(%e, %e, %d) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  func.call @l(%d, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  %f = scf.if %q -> (memref<4xf32>) {
    %g = memref.alloc() : memref<4xf32>
    func.call @k(%x, %g) : (memref<4xf32>, memref<4xf32>) -> ()
    %h = memref.alloc() : memref<8xf32>
    func.call @concatenate(%e, %g, %h) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
    func.call @l(%h, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    scf.yield %g : memref<4xf32>
  } else {
    %i = memref.alloc() : memref<4xf32>
    func.call @k(%x, %i) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %i : memref<4xf32>
  }
  memref.dealloc %f : memref<4xf32>
  func.return
}

// The buffers of an iteration are treated alike. A slice of an outer buffer stays if the loop stores to the buffer.
// CHECK-LABEL: func.func @iteration
// CHECK:         scf.for
// CHECK-NEXT:      %c = memref.alloc() : memref<8xf32>
// CHECK:           %a = loop.subview %c
// CHECK:           %b = loop.subview %c
// CHECK:           %s = loop.subview %x
// CHECK-NEXT:      func.call @k(%s, %b)
// CHECK:           func.call @half(%y, %t) {loop.copied = "%y changes while %t is needed"}
// CHECK:           func.call @l(%c, %y)
func.func @iteration(%x: memref<8xf32>, %n: index, %y: memref<8xf32>) attributes {loop.num_outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    %s = memref.alloc() : memref<4xf32>
    func.call @half(%x, %s) : (memref<8xf32>, memref<4xf32>) -> ()
    func.call @k(%s, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    %t = memref.alloc() : memref<4xf32>
    func.call @half(%y, %t) : (memref<8xf32>, memref<4xf32>) -> ()
    func.call @k(%t, %a) : (memref<4xf32>, memref<4xf32>) -> ()
    %c = memref.alloc() : memref<8xf32>
    func.call @concatenate(%a, %b, %c) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
    func.call @l(%c, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    scf.yield
  }
  func.return
}
func.func private @k(%p: memref<4xf32>, %r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @l(%p: memref<8xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @add(%p: memref<8xf32>, %q: memref<8xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @concatenate(%p: memref<4xf32>, %q: memref<4xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 8 {
    loop.block "concatenate" (%vi : spatial 8 = %i) reads(%p, %q) writes(%r) {
      %four = arith.constant 4 : index
      %first = arith.cmpi ult, %vi, %four : index
      %v = scf.if %first -> (f32) {
        %0 = loop.load %p[%vi] : memref<4xf32>
        scf.yield %0 : f32
      } else {
        %1 = loop.load %q[%vi - 4] : memref<4xf32>
        scf.yield %1 : f32
      }
      loop.store %v, %r[%vi] : memref<8xf32>
    }
  }
  func.return
}
func.func private @join(%p: memref<8xf32>, %q: memref<8xf32>, %r: memref<16xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 16 {
    loop.block "concatenate" (%vi : spatial 16 = %i) reads(%p, %q) writes(%r) {
      %four = arith.constant 8 : index
      %first = arith.cmpi ult, %vi, %four : index
      %v = scf.if %first -> (f32) {
        %0 = loop.load %p[%vi] : memref<8xf32>
        scf.yield %0 : f32
      } else {
        %1 = loop.load %q[%vi - 8] : memref<8xf32>
        scf.yield %1 : f32
      }
      loop.store %v, %r[%vi] : memref<16xf32>
    }
  }
  func.return
}
func.func private @half(%p: memref<8xf32>, %r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    loop.block "half" (%vi : spatial 4 = %i) reads(%p) writes(%r) {
      %0 = loop.load %p[%vi + 4] : memref<8xf32>
      loop.store %0, %r[%vi] : memref<4xf32>
    }
  }
  func.return
}
// CHECK:       func.func private @copy_part(%from: memref<4xf32>, %to: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64}
// CHECK-NEXT:    loop.for "i0" %i0 to 4 {
// CHECK-NEXT:      loop.block "copy"

// -----

// Dynamic extents: the names in loop.dims prove that the operands fill the whole. A part begins at the end of the
// parts before it, so the first and the second do not overlap. If an extent of the whole is computed after a part was
// made, the part is copied.
// CHECK-LABEL: func.func @main
// CHECK:         %[[S:.*]] = arith.addi %m, %n : index
// CHECK-NEXT:    %c = memref.alloc(%[[S]]) : memref<?x4xf32>
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %a = loop.subview %c[%[[C0]]] [%n] : memref<?x4xf32> to memref<?x4xf32>
// CHECK-NEXT:    func.call @k(%x, %a, %n, %n)
// CHECK:         %[[B:.*]] = arith.muli %n, %{{.*}}
// CHECK-NEXT:    %b = loop.subview %c[%[[B]]] [%m] : memref<?x4xf32> to memref<?x4xf32>
// CHECK-NEXT:    func.call @k(%a, %b, %n, %m)
// CHECK-NEXT:    func.call @k(%c, %y, %[[S]], %[[S]])
// CHECK:         func.call @concatenate(%d, %e, %f, %n, %m, %{{.*}}) {loop.copied = "the extents of %f are unknown at the allocation of %d
// PLAN:        func.func private @k(%p: memref<?x4xf32> {loop.extents = array<i64: 0>, llvm.noalias}, %r: memref<?x4xf32> {loop.extents = array<i64: 1>, llvm.noalias}
func.func @main(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index {xrelay.dim = "n"}, %m: index {xrelay.dim = "m"}) attributes {loop.num_outputs = 1 : i64} {
  %s = arith.addi %m, %n : index
  %a = memref.alloc(%n) : memref<?x4xf32>
  func.call @k(%x, %a, %n, %n) : (memref<?x4xf32>, memref<?x4xf32>, index, index) -> ()
  %b = memref.alloc(%m) : memref<?x4xf32>
  func.call @k(%a, %b, %n, %m) : (memref<?x4xf32>, memref<?x4xf32>, index, index) -> ()
  %c = memref.alloc(%s) : memref<?x4xf32>
  func.call @concatenate(%a, %b, %c, %n, %m, %s) : (memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>, index, index, index) -> ()
  func.call @k(%c, %y, %s, %s) : (memref<?x4xf32>, memref<?x4xf32>, index, index) -> ()
  %d = memref.alloc(%n) : memref<?x4xf32>
  func.call @k(%x, %d, %n, %n) : (memref<?x4xf32>, memref<?x4xf32>, index, index) -> ()
  %e = memref.alloc(%m) : memref<?x4xf32>
  func.call @k(%x, %e, %n, %m) : (memref<?x4xf32>, memref<?x4xf32>, index, index) -> ()
  %late = arith.addi %n, %m : index
  %f = memref.alloc(%late) : memref<?x4xf32>
  func.call @concatenate(%d, %e, %f, %n, %m, %late) : (memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>, index, index, index) -> ()
  func.call @k(%f, %y, %s, %s) : (memref<?x4xf32>, memref<?x4xf32>, index, index) -> ()
  func.return
}
func.func private @k(%p: memref<?x4xf32> {loop.extents = array<i64: 0>}, %r: memref<?x4xf32> {loop.extents = array<i64: 1>}, %n: index, %m: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @concatenate(%p: memref<?x4xf32> {loop.extents = array<i64: 0>}, %q: memref<?x4xf32> {loop.extents = array<i64: 1>}, %r: memref<?x4xf32> {loop.extents = array<i64: 2>}, %n: index, %m: index, %s: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.dims = #relay.dims<n, m, m + n>} {
  loop.for "i" %i to %s {
    loop.for "j" %j to 4 {
      loop.block "concatenate" (%vi : spatial %s = %i, %vj : spatial 4 = %j) reads(%p, %q) writes(%r) {
        %first = arith.cmpi ult, %vi, %n : index
        %v = scf.if %first -> (f32) {
          %0 = loop.load %p[%vi, %vj] : memref<?x4xf32>
          scf.yield %0 : f32
        } else {
          %1 = loop.load %q[%vi - %n, %vj] : memref<?x4xf32>
          scf.yield %1 : f32
        }
        loop.store %v, %r[%vi, %vj] : memref<?x4xf32>
      }
    }
  }
  func.return
}

// -----

// A reshape shares the buffer of its operand, with or without an operand for the shape. Parts that may overlap may coincide as inputs and have no mark.
// Kernels that compute, read with a step or columns, or store only some elements, are not copies.
// CHECK-LABEL: func.func @main
// CHECK:         %a = memref.alloc() : memref<4x6xf32>
// CHECK-NEXT:    func.call @fill(%a)
// CHECK:         %r = loop.subview %a[%{{.*}}] [] : memref<4x6xf32> to memref<3x8xf32>
// CHECK-NEXT:    func.call @use(%a, %r, %y)
// CHECK:         func.call @columns(
// CHECK:         func.call @steps(
// CHECK:         func.call @negated(
// CHECK-NOT:     loop.copied
// PLAN:        func.func private @use(%p: memref<4x6xf32>, %q: memref<3x8xf32>, %r: memref<3x8xf32> {llvm.noalias})
func.func @main(%x: memref<4x6xf32>, %y: memref<3x8xf32>) attributes {loop.num_outputs = 1 : i64} {
  %shape = memref.alloc() : memref<2xi64>
  %a = memref.alloc() : memref<4x6xf32>
  func.call @fill(%a) : (memref<4x6xf32>) -> ()
  %r = memref.alloc() : memref<3x8xf32>
  func.call @reshape(%a, %shape, %r) : (memref<4x6xf32>, memref<2xi64>, memref<3x8xf32>) -> ()
  func.call @use(%a, %r, %y) : (memref<4x6xf32>, memref<3x8xf32>, memref<3x8xf32>) -> ()
  %c = memref.alloc() : memref<4x3xf32>
  func.call @columns(%a, %c) : (memref<4x6xf32>, memref<4x3xf32>) -> ()
  %s = memref.alloc() : memref<2x6xf32>
  func.call @steps(%a, %s) : (memref<4x6xf32>, memref<2x6xf32>) -> ()
  %n = memref.alloc() : memref<4x6xf32>
  func.call @negated(%a, %n) : (memref<4x6xf32>, memref<4x6xf32>) -> ()
  func.return
}
func.func private @fill(%r: memref<4x6xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @use(%p: memref<4x6xf32>, %q: memref<3x8xf32>, %r: memref<3x8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @reshape(%p: memref<4x6xf32>, %shape: memref<2xi64>, %r: memref<3x8xf32>) attributes {relay.reshape_only, loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to 8 {
      loop.block "reshape" (%vi : spatial 3 = %i, %vj : spatial 8 = %j) reads(%p) writes(%r) {
        %0 = loop.load %p[(%vi * 8 + %vj) floordiv 6, (%vi * 8 + %vj) mod 6] : memref<4x6xf32>
        loop.store %0, %r[%vi, %vj] : memref<3x8xf32>
      }
    }
  }
  func.return
}
func.func private @columns(%p: memref<4x6xf32>, %r: memref<4x3xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    loop.for "j" %j to 3 {
      loop.block "columns" (%vi : spatial 4 = %i, %vj : spatial 3 = %j) reads(%p) writes(%r) {
        %0 = loop.load %p[%vi, %vj] : memref<4x6xf32>
        loop.store %0, %r[%vi, %vj] : memref<4x3xf32>
      }
    }
  }
  func.return
}
func.func private @steps(%p: memref<4x6xf32>, %r: memref<2x6xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 2 {
    loop.for "j" %j to 6 {
      loop.block "steps" (%vi : spatial 2 = %i, %vj : spatial 6 = %j) reads(%p) writes(%r) {
        %0 = loop.load %p[%vi * 2, %vj] : memref<4x6xf32>
        loop.store %0, %r[%vi, %vj] : memref<2x6xf32>
      }
    }
  }
  func.return
}
func.func private @negated(%p: memref<4x6xf32>, %r: memref<4x6xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    loop.for "j" %j to 6 {
      loop.block "negated" (%vi : spatial 4 = %i, %vj : spatial 6 = %j) reads(%p) writes(%r) {
        %0 = loop.load %p[%vi, %vj] : memref<4x6xf32>
        %1 = arith.negf %0 : f32
        loop.store %1, %r[%vi, %vj] : memref<4x6xf32>
      }
    }
  }
  func.return
}

// -----

// A small part that is made long before the others would extend the life of the whole: it is copied. A slice that is
// needed for longer than its buffer is copied too.
// CHECK-LABEL: func.func @main
// CHECK:         %a = memref.alloc() : memref<1xf32>
// CHECK:         func.call @one(%x, %a)
// CHECK:         %b = loop.subview %c[%{{.*}}] [] : memref<524289xf32> to memref<524288xf32>
// CHECK:         func.call @copy_part(%a, %{{.*}}) {loop.copied = "%c would be allocated as early as %a, which takes more memory"}
// CHECK:         func.call @first(%c, %s) {loop.copied = "%c would be needed as long as %s, which takes more memory"}
func.func @main(%x: memref<1xf32>, %y: memref<524288xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<1xf32>
  func.call @one(%x, %a) : (memref<1xf32>, memref<1xf32>) -> ()
  %t = memref.alloc() : memref<524288xf32>
  func.call @fill(%x, %t) : (memref<1xf32>, memref<524288xf32>) -> ()
  %u = memref.alloc() : memref<524288xf32>
  func.call @big(%t, %u) : (memref<524288xf32>, memref<524288xf32>) -> ()
  %b = memref.alloc() : memref<524288xf32>
  func.call @fill(%x, %b) : (memref<1xf32>, memref<524288xf32>) -> ()
  %c = memref.alloc() : memref<524289xf32>
  func.call @concatenate(%a, %b, %c) : (memref<1xf32>, memref<524288xf32>, memref<524289xf32>) -> ()
  %s = memref.alloc() : memref<1xf32>
  func.call @first(%c, %s) : (memref<524289xf32>, memref<1xf32>) -> ()
  %v = memref.alloc() : memref<524288xf32>
  func.call @fill(%x, %v) : (memref<1xf32>, memref<524288xf32>) -> ()
  %w = memref.alloc() : memref<524288xf32>
  func.call @big(%v, %w) : (memref<524288xf32>, memref<524288xf32>) -> ()
  func.call @big(%w, %y) : (memref<524288xf32>, memref<524288xf32>) -> ()
  func.call @fill(%s, %y) : (memref<1xf32>, memref<524288xf32>) -> ()
  func.return
}
func.func private @one(%p: memref<1xf32>, %r: memref<1xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @fill(%p: memref<1xf32>, %r: memref<524288xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @big(%p: memref<524288xf32>, %r: memref<524288xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @concatenate(%p: memref<1xf32>, %q: memref<524288xf32>, %r: memref<524289xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 524289 {
    loop.block "concatenate" (%vi : spatial 524289 = %i) reads(%p, %q) writes(%r) {
      %one = arith.constant 1 : index
      %first = arith.cmpi ult, %vi, %one : index
      %v = scf.if %first -> (f32) {
        %0 = loop.load %p[%vi] : memref<1xf32>
        scf.yield %0 : f32
      } else {
        %1 = loop.load %q[%vi - 1] : memref<524288xf32>
        scf.yield %1 : f32
      }
      loop.store %v, %r[%vi] : memref<524289xf32>
    }
  }
  func.return
}
func.func private @first(%p: memref<524289xf32>, %r: memref<1xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.block "first" (%vi : spatial 1 = 0) reads(%p) writes(%r) {
    %0 = loop.load %p[%vi] : memref<524289xf32>
    loop.store %0, %r[%vi] : memref<1xf32>
  }
  func.return
}

// -----

// A whole of which another part has been copied already is placed in turn, for example if its other operand is empty.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %d = memref.alloc() : memref<8xf32>
// CHECK:         %c = loop.subview %d[%{{.*}}] [] : memref<8xf32> to memref<4xf32>
// CHECK:         %e = loop.subview %c[%{{.*}}] [] : memref<4xf32> to memref<0xf32>
// CHECK:         func.call @copy_part(%x, %c) {loop.copied = "%x is an argument"}
// CHECK:         %g = loop.subview %d[%{{.*}}] [] : memref<8xf32> to memref<4xf32>
// PLAN:        func.func @main
func.func @main(%x: memref<4xf32>, %y: memref<8xf32>) attributes {loop.num_outputs = 1 : i64} {
  %e = memref.alloc() : memref<0xf32>
  func.call @none(%e) : (memref<0xf32>) -> ()
  %c = memref.alloc() : memref<4xf32>
  func.call @append(%e, %x, %c) : (memref<0xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %g = memref.alloc() : memref<4xf32>
  func.call @k(%c, %g) : (memref<4xf32>, memref<4xf32>) -> ()
  %d = memref.alloc() : memref<8xf32>
  func.call @concatenate(%c, %g, %d) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  func.call @l(%d, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}
func.func private @none(%r: memref<0xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @k(%p: memref<4xf32>, %r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @l(%p: memref<8xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @append(%p: memref<0xf32>, %q: memref<4xf32>, %r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    loop.block "concatenate" (%vi : spatial 4 = %i) reads(%p, %q) writes(%r) {
      %yero = arith.constant 0 : index
      %first = arith.cmpi ult, %vi, %yero : index
      %v = scf.if %first -> (f32) {
        %0 = loop.load %p[%vi] : memref<0xf32>
        scf.yield %0 : f32
      } else {
        %1 = loop.load %q[%vi] : memref<4xf32>
        scf.yield %1 : f32
      }
      loop.store %v, %r[%vi] : memref<4xf32>
    }
  }
  func.return
}
func.func private @concatenate(%p: memref<4xf32>, %q: memref<4xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 8 {
    loop.block "concatenate" (%vi : spatial 8 = %i) reads(%p, %q) writes(%r) {
      %four = arith.constant 4 : index
      %first = arith.cmpi ult, %vi, %four : index
      %v = scf.if %first -> (f32) {
        %0 = loop.load %p[%vi] : memref<4xf32>
        scf.yield %0 : f32
      } else {
        %1 = loop.load %q[%vi - 4] : memref<4xf32>
        scf.yield %1 : f32
      }
      loop.store %v, %r[%vi] : memref<8xf32>
    }
  }
  func.return
}

// -----

// A reshape that no copy reads leaves its operand free: %a is stored in a concatenation, and no part is copied.
// CHECK-LABEL: func.func @main
// CHECK:         %a = loop.subview %c[%{{.*}}] [] : memref<8xf32> to memref<4xf32>
// CHECK-NEXT:    func.call @fill(%a)
// CHECK:         %r = loop.subview %a[%{{.*}}] [] : memref<4xf32> to memref<2x2xf32>
// CHECK-NEXT:    func.call @use(%r, %z)
// CHECK-NOT:     func.call @reshape
// CHECK-NOT:     func.call @concatenate
// CHECK-NOT:     loop.copied
func.func @main(%z: memref<2x2xf32>, %y: memref<8xf32>) attributes {loop.num_outputs = 2 : i64} {
  %a = memref.alloc() : memref<4xf32>
  func.call @fill(%a) : (memref<4xf32>) -> ()
  %r = memref.alloc() : memref<2x2xf32>
  func.call @reshape(%a, %r) : (memref<4xf32>, memref<2x2xf32>) -> ()
  func.call @use(%r, %z) : (memref<2x2xf32>, memref<2x2xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  func.call @fill(%b) : (memref<4xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  func.call @concatenate(%a, %b, %c) : (memref<4xf32>, memref<4xf32>, memref<8xf32>) -> ()
  func.call @double(%c, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}
func.func private @fill(%r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @use(%p: memref<2x2xf32>, %r: memref<2x2xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @double(%p: memref<8xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @reshape(%p: memref<4xf32>, %r: memref<2x2xf32>) attributes {relay.reshape_only, loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 2 {
    loop.for "j" %j to 2 {
      loop.block "reshape" (%vi : spatial 2 = %i, %vj : spatial 2 = %j) reads(%p) writes(%r) {
        %0 = loop.load %p[%vi * 2 + %vj] : memref<4xf32>
        loop.store %0, %r[%vi, %vj] : memref<2x2xf32>
      }
    }
  }
  func.return
}
func.func private @concatenate(%p: memref<4xf32>, %q: memref<4xf32>, %r: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 8 {
    loop.block "concatenate" (%vi : spatial 8 = %i) reads(%p, %q) writes(%r) {
      %four = arith.constant 4 : index
      %first = arith.cmpi slt, %vi, %four : index
      %0 = scf.if %first -> (f32) {
        %1 = loop.load %p[%vi] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        %2 = loop.load %q[%vi - 4] : memref<4xf32>
        scf.yield %2 : f32
      }
      loop.store %0, %r[%vi] : memref<8xf32>
    }
  }
  func.return
}
