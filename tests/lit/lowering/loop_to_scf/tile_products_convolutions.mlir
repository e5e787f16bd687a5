// RUN: xrelay-opt %s -p 'convert-loop-to-scf{tiles=tdpbusd}' | filecheck %s

// Loops over taps carry the sums. A tile has the 14 columns of a row of the image; the filters of a step are 192 bytes
// apart, one group of terms after the other for all taps.
// CHECK-LABEL: func.func private @taps
// CHECK-COUNT-2: amx.tile_zero : !amx.tile<14x16xi32>
// CHECK: scf.for %[[Y:.*]] = %{{.*}} iter_args(
// CHECK-NOT: scf.for
// CHECK: amx.tile_load %W[%{{.*}}, %[[Y]], %{{.*}}, %{{.*}}], %[[STEP:.*]] : memref<16x3x16x4xi8> into !amx.tile<16x64xi8>
// CHECK: amx.tile_load %X[%[[Y]], %{{.*}}, %{{.*}}], %{{.*}} : memref<4x14x64xi8> into !amx.tile<14x64xi8>
// CHECK-NEXT: amx.tile_muli
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[Y]],
// CHECK: amx.tile_load %X[%[[NEXT]],
// CHECK-NEXT: amx.tile_muli
// CHECK: amx.tile_store %sums[%[[C0:.*]], %[[C0]], %[[C0]]],
// CHECK-NEXT: amx.tile_store %sums[%{{.*}}, %[[C0]], %[[C0]]],
func.func private @taps(%X: memref<4x14x64xui8>, %W: memref<16x3x16x4xi8>, %Z: memref<2x14x16xi32>) attributes {loop.kernel} {
  %sums = memref.alloc() : memref<2x14x16xi32, "local">
  loop.for "hz" %h to 2 unrolled {
    loop.for "wz" %c to 14 unrolled {
      loop.for "oz" %o to 16 vectorized {
        %zero = arith.constant 0 : i32
        loop.store %zero, %sums[%h, %c, %o] : memref<2x14x16xi32, "local">
      }
    }
  }
  loop.for "y" %y to 3 {
    loop.for "k" %k to 16 tensorized {
      loop.for "h" %h to 2 unrolled {
        loop.for "w" %c to 14 unrolled {
          loop.for "o" %o to 16 vectorized {
            loop.for "t" %t to 4 contracted {
              %acc = loop.load %sums[%h, %c, %o] : memref<2x14x16xi32, "local">
              %x = loop.load %X[%h + %y, %c, %k * 4 + %t] : memref<4x14x64xui8>
              %w = loop.load %W[%k, %y, %o, %t] : memref<16x3x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %s = arith.addi %acc, %p : i32
              loop.store %s, %sums[%h, %c, %o] : memref<2x14x16xi32, "local">
            }
          }
        }
      }
    }
  }
  loop.for "hy" %h to 2 {
    loop.for "wy" %c to 14 {
      loop.for "oy" %o to 16 vectorized {
        %s = loop.load %sums[%h, %c, %o] : memref<2x14x16xi32, "local">
        loop.store %s, %Z[%h, %c, %o] : memref<2x14x16xi32>
      }
    }
  }
  func.return
}

// The loop over rows of sums is no loop of the product.
// CHECK-LABEL: func.func private @rows
// CHECK: scf.for %[[ROW:.*]] =
// CHECK-NOT: iter_args
// CHECK: %[[SUM:.*]] = amx.tile_load %Y[%[[ROW]],
// CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %[[SUM]]
func.func private @rows(%X: memref<2x16x64xui8>, %W: memref<16x16x4xi8>, %Y: memref<2x16x16xi32>) attributes {loop.kernel} {
  loop.for "h" %h to 2 {
    loop.for "k" %k to 16 tensorized {
      loop.for "w" %c to 16 unrolled {
        loop.for "o" %o to 16 vectorized {
          loop.for "t" %t to 4 contracted {
            %acc = loop.load %Y[%h, %c, %o] : memref<2x16x16xi32>
            %x = loop.load %X[%h, %c, %k * 4 + %t] : memref<2x16x64xui8>
            %w = loop.load %W[%k, %o, %t] : memref<16x16x4xi8>
            %xe = arith.extui %x : i8 to i32
            %we = arith.extsi %w : i8 to i32
            %p = arith.muli %xe, %we : i32
            %s = arith.addi %acc, %p : i32
            loop.store %s, %Y[%h, %c, %o] : memref<2x16x16xi32>
          }
        }
      }
    }
  }
  func.return
}

// Each of two tiles of the data prefetches half of the rows of the next panel of weights.
// CHECK-LABEL: func.func private @panels
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK: amx.tile_load %Y[
// CHECK: arith.addi %[[P]], %{{.*}} : index
// CHECK-COUNT-8: memref.prefetch %W[
// CHECK-NOT: memref.prefetch
func.func private @panels(%X: memref<2x16x64xui8>, %W: memref<3x16x16x4xi8>, %Y: memref<3x2x16x16xi32>) attributes {loop.kernel} {
  loop.for "p" %p to 3 {
    loop.for "h" %h to 2 {
      loop.for "k" %k to 16 tensorized attributes {loop.prefetch} {
        loop.for "w" %c to 16 unrolled {
          loop.for "o" %o to 16 vectorized {
            loop.for "t" %t to 4 contracted {
              %acc = loop.load %Y[%p, %h, %c, %o] : memref<3x2x16x16xi32>
              %x = loop.load %X[%h, %c, %k * 4 + %t] : memref<2x16x64xui8>
              %w = loop.load %W[%p, %k, %o, %t] : memref<3x16x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %m = arith.muli %xe, %we : i32
              %s = arith.addi %acc, %m : i32
              loop.store %s, %Y[%p, %h, %c, %o] : memref<3x2x16x16xi32>
            }
          }
        }
      }
    }
  }
  func.return
}
