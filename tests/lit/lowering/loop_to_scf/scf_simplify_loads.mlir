// RUN: xrelay-opt %s -p scf-simplify | filecheck %s

// A buffer that does not alias others and is not written is read once, whatever is written between; buffers that are
// written, or may alias a written one, are read again.
// CHECK-LABEL: func.func @loads(
// CHECK:         memref.load %x[
// CHECK:         memref.load %y[
// CHECK:         memref.load %z[
// CHECK:         scf.for
// CHECK-NOT:       memref.load %x
// CHECK:           memref.load %y[
// CHECK:           memref.load %z[
// CHECK:         func.return
func.func @loads(%x: memref<8xf32> {llvm.noalias}, %y: memref<8xf32>, %z: memref<8xf32> {llvm.noalias}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %a = memref.load %x[%zero] : memref<8xf32>
  %b = memref.load %y[%zero] : memref<8xf32>
  %c = memref.load %z[%zero] : memref<8xf32>
  "test.op"(%a, %b, %c) : (f32, f32, f32) -> ()
  scf.for %i = %zero to %eight step %one {
    %d = memref.load %x[%zero] : memref<8xf32>
    %e = memref.load %y[%zero] : memref<8xf32>
    %f = memref.load %z[%zero] : memref<8xf32>
    "test.op"(%d, %e, %f) : (f32, f32, f32) -> ()
    memref.store %d, %z[%i] : memref<8xf32>
  }
  func.return
}
