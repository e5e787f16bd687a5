// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @rows
func.func private @rows(%X: memref<4x8xui8>, %V: memref<4x3xui8>, %I: memref<4x3xi64>) {
  %a = memref.alloc() : memref<4x16xi8>
  %b = memref.alloc() : memref<4x16xi64>
  loop.for "i" %i to 4 {
    // CHECK: loop.block "sort" (%v0 : spatial 4 = %i) reads(%X) writes(%V, %I, %a, %b) {
    loop.block "sort" (%v0 : spatial 4 = %i) reads(%X) writes(%V, %I, %a, %b) {
      // CHECK-NEXT: loop.sort %X[%v0] into %V, %I scratch %a, %b {axis = 1 : i64, descending, unsigned} : memref<4x8xui8>, memref<4x3xui8>, memref<4x3xi64>, memref<4x16xi8>, memref<4x16xi64>
      loop.sort %X[%v0] into %V, %I scratch %a, %b {axis = 1 : i64, descending, unsigned}
        : memref<4x8xui8>, memref<4x3xui8>, memref<4x3xi64>, memref<4x16xi8>, memref<4x16xi64>
    }
  }
  func.return
}

// CHECK-LABEL: @vector
func.func private @vector(%X: memref<8xf32>, %V: memref<8xf32>, %I: memref<8xi64>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // CHECK: loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<8xf32>, memref<8xf32>, memref<8xi64>, memref<16xi32>, memref<16xi64>
  func.return
}

// Half of the scratch contains few selected elements, or candidates for more; the other half serves to sort them.
// CHECK-LABEL: @first
func.func private @first(%X: memref<800xi1>, %V: memref<3xi1>, %I: memref<3xi64>, %a: memref<6xi8>, %b: memref<6xi64>) {
  // CHECK: loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, unsigned, selects}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, unsigned, selects}
    : memref<800xi1>, memref<3xi1>, memref<3xi64>, memref<6xi8>, memref<6xi64>
  func.return
}

// CHECK-LABEL: @more
func.func private @more(%X: memref<800xf32>, %V: memref<20xf32>, %I: memref<20xi64>, %a: memref<208xi32>, %b: memref<208xi64>) {
  // CHECK: loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, selects}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, selects}
    : memref<800xf32>, memref<20xf32>, memref<20xi64>, memref<208xi32>, memref<208xi64>
  func.return
}
