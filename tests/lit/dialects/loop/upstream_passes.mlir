// xDSL's own passes work on the dialect: ops without effects are removed, loads and stores stay.
// RUN: xrelay-opt %s -p canonicalize,cse,dce | filecheck %s

// CHECK-LABEL: @k
// CHECK-NEXT: %w = loop.weight "w" : memref<4xf32>
// CHECK-NEXT: loop.for "i" %i to 4 {
func.func @k(%X: memref<4xf32>, %Y: memref<4xf32>) {
  %w = loop.weight "w" : memref<4xf32>
  %w2 = loop.weight "w" : memref<4xf32>
  %unused = loop.weight "unused" : memref<4xf32>
  loop.for "i" %i to 4 {
    // CHECK-NEXT: loop.block "b" (%v : spatial 4 = %i) reads(%X, %w, %w) writes(%Y) {
    loop.block "b" (%v : spatial 4 = %i) reads(%X, %w, %w2) writes(%Y) {
      // CHECK-NEXT: %x = loop.load %X[%v] : memref<4xf32>
      // CHECK-NEXT: %a = loop.load %w[%v] : memref<4xf32>
      %x = loop.load %X[%v] : memref<4xf32>
      %nothing = arith.addf %x, %x : f32
      %a = loop.load %w[%v] : memref<4xf32>
      %b = loop.load %w2[%v] : memref<4xf32>
      %s = arith.addf %x, %a : f32
      %t = arith.addf %s, %b : f32
      // CHECK: loop.store %t, %Y[%v] : memref<4xf32>
      loop.store %t, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}
