// RUN: xrelay-opt %s -p 'loop-split{loop=i factor=3},loop-reverse-compute-at{block=shift loop=i_o}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-reverse-compute-at{block=shift loop=k}' 2>&1 | filecheck %s --check-prefix INCOMPLETE
// RUN: not xrelay-opt %s -p 'loop-reverse-compute-at{block=before loop=i}' 2>&1 | filecheck %s --check-prefix OTHER
// RUN: not xrelay-opt %s -p 'loop-reverse-compute-at{block=next loop=p}' 2>&1 | filecheck %s --check-prefix INDEX
// RUN: not xrelay-opt %s -p 'loop-reverse-compute-at{block=last loop=p}' 2>&1 | filecheck %s --check-prefix BETWEEN

// INCOMPLETE: error: reverse_compute_at("shift", "k"): loop 'k': block 'max' reduces over it, so the tile is not complete in 'k'; help: name a loop around the reduction
// OTHER: error: reverse_compute_at("before", "i"): block 'before': it reads results of 0 blocks in loop 'i'; help: name a loop around its only producer
// INDEX: error: reverse_compute_at("next", "p"): block 'next': it reads the result of block 'plus' at another index than its variables; help: use compute_at for the producer
// BETWEEN: error: reverse_compute_at("last", "p"): block 'last': block 'next', before it, uses its result or writes its operand; help: leave it where it is

// The producer is split already. The last tile has 2 rows: the domain of both blocks keeps them inside of the buffers.
// CHECK-LABEL: func.func private @rows
// CHECK: loop.for "i_o" %i_o to 3 {
// CHECK-NEXT: %T = memref.alloc() : memref<3xf32, "local">
// CHECK-NEXT: loop.for "i_i" %i_i to 3 {
// CHECK: loop.block "max" (%[[VI:.*]] : spatial 8 = %i_o * 3 + %i_i, {{.*}}) reads(%X) writes(%T) init {
// CHECK: loop.store %{{.*}}, %T[%[[VI]] - %i_o * 3]
// CHECK: loop.for "i_i_shift" %[[I:.*]] to 3 {
// CHECK-NEXT: loop.for "c" %c to 32 {
// CHECK-NEXT: loop.block "shift" (%[[VR:.*]] : spatial 8 = %i_o * 3 + %[[I]], %{{.*}} : spatial 32 = %c) reads(%X, %T) writes(%Y) {
// CHECK: loop.load %T[%[[VR]] - %i_o * 3]
func.func private @rows(%X: memref<8x32xf32>, %B: memref<8xf32>, %Z: memref<8xf32>, %Y: memref<8x32xf32>) attributes {loop.kernel} {
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
  loop.for "b" %b to 8 {
    loop.block "before" (%vb : spatial 8 = %b) reads(%B) writes(%Z) {
      %y = loop.load %B[%vb] : memref<8xf32>
      loop.store %y, %Z[%vb] : memref<8xf32>
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

func.func private @neighbours(%X: memref<9xf32>, %Y: memref<8xf32>) attributes {loop.kernel} {
  %T = memref.alloc() : memref<9xf32>
  loop.for "p" %p to 9 {
    loop.block "plus" (%v : spatial 9 = %p) reads(%X) writes(%T) {
      %x = loop.load %X[%v] : memref<9xf32>
      %y = arith.addf %x, %x : f32
      loop.store %y, %T[%v] : memref<9xf32>
    }
  }
  loop.for "n" %n to 8 {
    loop.block "next" (%v : spatial 8 = %n) reads(%T) writes(%Y) {
      %x = loop.load %T[%v + 1] : memref<9xf32>
      loop.store %x, %Y[%v] : memref<8xf32>
    }
  }
  loop.for "l" %l to 8 {
    loop.block "last" (%v : spatial 8 = %l) reads(%T) writes(%Y) {
      %x = loop.load %T[%v] : memref<9xf32>
      loop.store %x, %Y[%v] : memref<8xf32>
    }
  }
  func.return
}
