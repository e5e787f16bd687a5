// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @prefetch(%m: memref<4x8xf32>, %i: index) {
  // expected-error @+1 {{[memref.prefetch C1]}}
  memref.prefetch %m[%i], read, locality<2>, data : memref<4x8xf32>
  func.return
}

// -----

func.func @locality(%m: memref<8xf32>, %i: index) {
  // expected-error @+1 {{[memref.prefetch C2] locality 1 is neither 2 nor 3}}
  memref.prefetch %m[%i], read, locality<1>, data : memref<8xf32>
  func.return
}
