// RUN: xrelay-opt %s --split-input-file -p loop-elide-copies | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p loop-elide-copies | xrelay-opt --split-input-file | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p loop-elide-copies,loop-plan-memory,loop-lower-blocks,convert-loop-to-scf | filecheck %s --check-prefix SCF

// Columns of a buffer: the kernels that write them are copied, with strides in a type. Values already placed, and
// inputs, are copied; two interleaved parts of one buffer have no mark. Slices with a step among rows are read at strides.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %c = memref.alloc() : memref<3x48xf32>
// CHECK:         %a = loop.subview %c[%{{.*}}] [] : memref<3x48xf32> to memref<3x16xf32, strided<[48, 1]>>
// CHECK-NEXT:    func.call @make_apart(%x, %a) : (memref<3x16xf32>, memref<3x16xf32, strided<[48, 1]>>) -> ()
// CHECK:         func.call @copy_part(%a, %{{.*}}) {loop.copied = "%a is a view of %c already"}
// CHECK-NEXT:    %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT:    %[[PLACE:.*]] = loop.subview %c[%[[C32]]] [] : memref<3x48xf32> to memref<3x16xf32, strided<[48, 1]>>
// CHECK-NEXT:    func.call @copy_part_1(%x, %[[PLACE]]) {loop.copied = "%x is an argument"}
// CHECK-NEXT:    %[[C16:.*]] = arith.constant 16 : index
// CHECK-NEXT:    %b = loop.subview %c[%[[C16]]] [] : memref<3x48xf32> to memref<2x32xf32, strided<[96, 1]>>
// CHECK-NEXT:    func.call @use_apart(%b, %y)
// CHECK-NOT:   @concatenate
// CHECK-NOT:   func.func private @make(
// CHECK:       func.func private @make_apart(%x: memref<3x16xf32>, %r: memref<3x16xf32, strided<[48, 1]>>) attributes {loop.kernel, loop.num_outputs = 1 : i64}
// CHECK:         loop.store %{{.*}}, %r[%vi, %vj] : memref<3x16xf32, strided<[48, 1]>>
// CHECK-NOT:   @rows
// SCF-LABEL:   func.func @main
// SCF:           memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [3, 16], strides: [48, 1] : memref<3x48xf32> to memref<3x16xf32, strided<[48, 1], offset: ?>>
// SCF:           memref.store %{{.*}}, %r[%{{.*}}, %{{.*}}] : memref<3x16xf32, strided<[48, 1]>>
func.func @main(%x: memref<3x16xf32>, %y: memref<2x32xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<3x16xf32>
  func.call @make(%x, %a) : (memref<3x16xf32>, memref<3x16xf32>) -> ()
  %c = memref.alloc() : memref<3x48xf32>
  func.call @concatenate(%a, %x, %c) : (memref<3x16xf32>, memref<3x16xf32>, memref<3x48xf32>) -> ()
  %b = memref.alloc() : memref<2x32xf32>
  func.call @rows(%c, %b) : (memref<3x48xf32>, memref<2x32xf32>) -> ()
  func.call @use(%b, %y) : (memref<2x32xf32>, memref<2x32xf32>) -> ()
  func.return
}
func.func private @make(%x: memref<3x16xf32>, %r: memref<3x16xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to 16 {
      loop.block "make" (%vi : spatial 3 = %i, %vj : spatial 16 = %j) reads(%x) writes(%r) {
        %0 = loop.load %x[%vi, %vj] : memref<3x16xf32>
        %1 = arith.negf %0 : f32
        loop.store %1, %r[%vi, %vj] : memref<3x16xf32>
      }
    }
  }
  func.return
}
func.func private @use(%x: memref<2x32xf32>, %r: memref<2x32xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 2 {
    loop.for "j" %j to 32 {
      loop.block "use" (%vi : spatial 2 = %i, %vj : spatial 32 = %j) reads(%x) writes(%r) {
        %0 = loop.load %x[%vi, %vj] : memref<2x32xf32>
        %1 = arith.negf %0 : f32
        loop.store %1, %r[%vi, %vj] : memref<2x32xf32>
      }
    }
  }
  func.return
}
func.func private @concatenate(%p: memref<3x16xf32>, %q: memref<3x16xf32>, %r: memref<3x48xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to 48 {
      loop.block "concatenate" (%vi : spatial 3 = %i, %vj : spatial 48 = %j) reads(%p, %q) writes(%r) {
        %c16 = arith.constant 16 : index
        %c32 = arith.constant 32 : index
        %first = arith.cmpi ult, %vj, %c16 : index
        %v = scf.if %first -> (f32) {
          %0 = loop.load %p[%vi, %vj] : memref<3x16xf32>
          scf.yield %0 : f32
        } else {
          %second = arith.cmpi ult, %vj, %c32 : index
          %w = scf.if %second -> (f32) {
            %1 = loop.load %p[%vi, %vj - 16] : memref<3x16xf32>
            scf.yield %1 : f32
          } else {
            %2 = loop.load %q[%vi, %vj - 32] : memref<3x16xf32>
            scf.yield %2 : f32
          }
          scf.yield %w : f32
        }
        loop.store %v, %r[%vi, %vj] : memref<3x48xf32>
      }
    }
  }
  func.return
}
func.func private @rows(%p: memref<3x48xf32>, %r: memref<2x32xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 2 {
    loop.for "j" %j to 32 {
      loop.block "rows" (%vi : spatial 2 = %i, %vj : spatial 32 = %j) reads(%p) writes(%r) {
        %0 = loop.load %p[%vi * 2, %vj + 16] : memref<3x48xf32>
        loop.store %0, %r[%vi, %vj] : memref<2x32xf32>
      }
    }
  }
  func.return
}

// -----

// Unchanged: short runs, users that are not private kernels with plain accesses, and kernels with versions.
// CHECK-LABEL: func.func @main
// CHECK:         func.call @join(%a, %b, %c) {loop.copied = "not all users of %a are kernels that can be specialised; not all users of %b are kernels that can be specialised"}
// CHECK:         func.call @join(%d, %d, %e) {loop.copied = "not all users of %d are kernels that can be specialised"}
// CHECK:         func.call @few(%f, %f, %g) {loop.copied = "%f would have 8 consecutive elements, at least 16 are required"}
// CHECK-NOT:   _apart
func.func @main(%x: memref<3x16xf32>, %z: memref<3x8xf32>, %y: memref<3x32xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<3x16xf32>
  func.call @public(%x, %a) : (memref<3x16xf32>, memref<3x16xf32>) -> ()
  %b = memref.alloc() : memref<3x16xf32>
  func.call @opaque(%x, %b) : (memref<3x16xf32>, memref<3x16xf32>) -> ()
  %c = memref.alloc() : memref<3x32xf32>
  func.call @join(%a, %b, %c) : (memref<3x16xf32>, memref<3x16xf32>, memref<3x32xf32>) -> ()
  %d = memref.alloc() : memref<3x16xf32>
  func.call @chooses(%x, %d) : (memref<3x16xf32>, memref<3x16xf32>) -> ()
  %e = memref.alloc() : memref<3x32xf32>
  func.call @join(%d, %d, %e) : (memref<3x16xf32>, memref<3x16xf32>, memref<3x32xf32>) -> ()
  %f = memref.alloc() : memref<3x8xf32>
  func.call @make(%z, %f) : (memref<3x8xf32>, memref<3x8xf32>) -> ()
  %g = memref.alloc() : memref<3x16xf32>
  func.call @few(%f, %f, %g) : (memref<3x8xf32>, memref<3x8xf32>, memref<3x16xf32>) -> ()
  func.call @sum(%c, %e, %g, %y) : (memref<3x32xf32>, memref<3x32xf32>, memref<3x16xf32>, memref<3x32xf32>) -> ()
  func.return
}
func.func @public(%x: memref<3x16xf32>, %r: memref<3x16xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @opaque(%x: memref<3x16xf32>, %r: memref<3x16xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  "test.op"(%r) : (memref<3x16xf32>) -> ()
  func.return
}
func.func private @chooses(%x: memref<3x16xf32>, %r: memref<3x16xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @chooses_n1(%x: memref<3x16xf32>, %r: memref<3x16xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.version = {of = @chooses, sizes = {n = 1 : i64}, reason = "usual"}} {
  func.return
}
func.func private @make(%x: memref<3x8xf32>, %r: memref<3x8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @sum(%a: memref<3x32xf32>, %b: memref<3x32xf32>, %c: memref<3x16xf32>, %r: memref<3x32xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @join(%p: memref<3x16xf32>, %q: memref<3x16xf32>, %r: memref<3x32xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to 32 {
      loop.block "join" (%vi : spatial 3 = %i, %vj : spatial 32 = %j) reads(%p, %q) writes(%r) {
        %c16 = arith.constant 16 : index
        %first = arith.cmpi ult, %vj, %c16 : index
        %v = scf.if %first -> (f32) {
          %0 = loop.load %p[%vi, %vj] : memref<3x16xf32>
          scf.yield %0 : f32
        } else {
          %1 = loop.load %q[%vi, %vj - 16] : memref<3x16xf32>
          scf.yield %1 : f32
        }
        loop.store %v, %r[%vi, %vj] : memref<3x32xf32>
      }
    }
  }
  func.return
}
func.func private @few(%p: memref<3x8xf32>, %q: memref<3x8xf32>, %r: memref<3x16xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to 16 {
      loop.block "few" (%vi : spatial 3 = %i, %vj : spatial 16 = %j) reads(%p, %q) writes(%r) {
        %c8 = arith.constant 8 : index
        %first = arith.cmpi ult, %vj, %c8 : index
        %v = scf.if %first -> (f32) {
          %0 = loop.load %p[%vi, %vj] : memref<3x8xf32>
          scf.yield %0 : f32
        } else {
          %1 = loop.load %q[%vi, %vj - 8] : memref<3x8xf32>
          scf.yield %1 : f32
        }
        loop.store %v, %r[%vi, %vj] : memref<3x16xf32>
      }
    }
  }
  func.return
}
