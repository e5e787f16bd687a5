// A kernel without an @main is checked alone.
// RUN: xrelay-opt %s -p loop-lower-blocks --check-numerics -o /dev/null 2>&1 | filecheck %s

// CHECK: numerics: results unchanged by loop-lower-blocks
// CHECK-NOT: not checked
func.func private @k(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.num_outputs = 1 : i64, loop.kernel, loop.dims = #relay.dims<n>} {
  loop.for "i" %i to %n {
    loop.block "copy" (%v : spatial %n = %i) reads(%x) writes(%y) {
      %0 = loop.load %x[%v] : memref<?xf32>
      loop.store %0, %y[%v] : memref<?xf32>
    }
  }
  func.return
}
