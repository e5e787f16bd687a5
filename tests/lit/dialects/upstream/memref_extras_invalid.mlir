// RUN: xrelay-opt %s --verify-diagnostics

func.func @prefetch(%m: memref<4x8xf32>, %i: index) {
  // expected-error @+1 {{[memref.prefetch C1]}}
  memref.prefetch %m[%i], read, locality<2>, data : memref<4x8xf32>
  func.return
}
