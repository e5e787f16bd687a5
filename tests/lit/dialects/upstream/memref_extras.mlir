// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p convert-memref-to-llvm | filecheck %s --check-prefix LLVM

// CHECK: memref.prefetch %m[%i, %j], read, locality<2>, data : memref<4x8xf32>
// LLVM: [[P:%.*]] = llvm.getelementptr
// CHECK-NEXT: memref.prefetch %m[%j, %i], read, locality<3>, data : memref<4x8xf32>
// LLVM: llvm.call_intrinsic "llvm.prefetch.p0"([[P]], {{.*}}) : (!llvm.ptr, i32, i32, i32) -> ()
func.func @prefetch(%m: memref<4x8xf32>, %i: index, %j: index) {
  memref.prefetch %m[%i, %j], read, locality<2>, data : memref<4x8xf32>
  memref.prefetch %m[%j, %i], read, locality<3>, data : memref<4x8xf32>
  func.return
}
