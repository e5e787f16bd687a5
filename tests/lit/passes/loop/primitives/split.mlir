// RUN: xrelay-opt %s -p 'loop-split{loop=w factor=14}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-split{loop=w factor=16 tail=mask names=a,b kernel=copy}' | filecheck %s --check-prefix MASK
// RUN: not xrelay-opt %s -p 'loop-split{loop=w factor=16},loop-split{loop=w_i factor=3}' 2>&1 | filecheck %s --check-prefix INNER

// CHECK-LABEL: @copy
// CHECK: loop.for "w_o" %w_o to 4 {
// CHECK-NEXT: loop.for "w_i" %w_i to 14 {
// CHECK-NEXT: loop.block "copy" (%v : spatial 56 = %w_o * 14 + %w_i)
// MASK-LABEL: @copy
// MASK: loop.for "a" %a to 4 tail = mask {
// MASK-NEXT: loop.for "b" %b to 16 {
// MASK-NEXT: loop.block "copy" (%v : spatial 56 = %a * 16 + %b)
// INNER: error: split("w_i", 3): loop 'w_i': 3 does not divide its extent 16, and iterations 16 to 17 would still be inside the domain of block 'copy'; help: choose a divisor of 16
func.func private @copy(%X: memref<56xf32>, %Y: memref<56xf32>) attributes {loop.kernel} {
  loop.for "w" %w to 56 {
    loop.block "copy" (%v : spatial 56 = %w) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<56xf32>
      loop.store %x, %Y[%v] : memref<56xf32>
    }
  }
  func.return
}

// A kernel without the loop is unchanged.
// CHECK-LABEL: @sum
// CHECK: loop.for "k" %k to 10 {
func.func private @sum(%X: memref<10xf32>, %Y: memref<f32>) attributes {loop.kernel} {
  loop.for "k" %k to 10 {
    loop.block "sum" (%v : reduce 10 = %k) reads(%X) writes(%Y) init {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[] : memref<f32>
    } {
      %x = loop.load %X[%v] : memref<10xf32>
      %y = loop.load %Y[] : memref<f32>
      %s = arith.addf %x, %y : f32
      loop.store %s, %Y[] : memref<f32>
    }
  }
  func.return
}
