// RUN: xrelay-opt %s -p 'loop-compute-at{block=max loop=r}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-split{loop=r factor=3},loop-compute-at{block=max loop=r_o}' | filecheck %s --check-prefix TAIL
// RUN: not xrelay-opt %s -p 'loop-compute-at{block=shift loop=i}' 2>&1 | filecheck %s --check-prefix ARGUMENT

// CHECK: loop.for "r" %r to 8 {
// CHECK-NEXT: %T = memref.alloc() : memref<f32, "local">
// CHECK-NEXT: loop.for "i" %i to 1 {
// CHECK-NEXT: loop.for "k" %k to 32 {
// CHECK-NEXT: loop.block "max" (%vi : spatial 8 = %r, %vk : reduce 32 = %k) reads(%X) writes(%T) init {
// CHECK: loop.store {{.*}}, %T[] : memref<f32, "local">
// CHECK: loop.for "c" %c to 32 {
// CHECK: loop.load %T[] : memref<f32, "local">

// The block's domain keeps the last, partial tile inside the buffers.
// TAIL: loop.for "r_o" %r_o to 3 {
// TAIL-NEXT: %T = memref.alloc() : memref<3xf32, "local">
// TAIL-NEXT: loop.for "i" %i to 3 {
// TAIL-NEXT: loop.for "k" %k to 32 {
// TAIL-NEXT: loop.block "max" (%vi : spatial 8 = %r_o * 3 + %i, %vk : reduce 32 = %k)
// TAIL: loop.load %T[%vi - %r_o * 3] : memref<3xf32, "local">
// ARGUMENT: error: compute_at("shift", "i"): block 'shift': it writes an argument of the kernel; help: use cache_write first
func.func private @rows(%X: memref<8x32xf32>, %Y: memref<8x32xf32>) attributes {loop.kernel} {
  %T = memref.alloc() : memref<8xf32>
  loop.for "i" %i to 8 {
    loop.for "k" %k to 32 {
      loop.block "max" (%vi : spatial 8 = %i, %vk : reduce 32 = %k) reads(%X) writes(%T) init {
        %low = arith.constant 0xFF800000 : f32
        loop.store %low, %T[%vi] : memref<8xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<8x32xf32>
        %t = loop.load %T[%vi] : memref<8xf32>
        %m = arith.maximumf %x, %t : f32
        loop.store %m, %T[%vi] : memref<8xf32>
      }
    }
  }
  loop.for "r" %r to 8 {
    loop.for "c" %c to 32 {
      loop.block "shift" (%vr : spatial 8 = %r, %vc : spatial 32 = %c) reads(%X, %T) writes(%Y) {
        %x = loop.load %X[%vr, %vc] : memref<8x32xf32>
        %t = loop.load %T[%vr] : memref<8xf32>
        %d = arith.subf %x, %t : f32
        loop.store %d, %Y[%vr, %vc] : memref<8x32xf32>
      }
    }
  }
  func.return
}
