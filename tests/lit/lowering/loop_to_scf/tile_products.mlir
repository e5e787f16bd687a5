// RUN: xrelay-opt %s -p 'convert-loop-to-scf{tiles=tdpbusd}' | filecheck %s
// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s --check-prefix PLAIN
// RUN: not xrelay-opt %s -p 'convert-loop-to-scf{tiles=vpdpbusd}' 2>&1 | filecheck %s --check-prefix NAME

// NAME: error: convert-loop-to-scf: no instruction on tiles is called 'vpdpbusd'

// The last tile begins at row 4, so rows 4 to 15 are in two tiles. The sums begin with zeros, without the loops before.
// CHECK-LABEL: func.func private @product
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<20x32xi32>
// CHECK-NOT: vector.store
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xi32>
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} iter_args(
// CHECK-NEXT: %[[GROUP:.*]] = arith.muli %[[STEP]], %{{.*}}
// CHECK-NEXT: %[[W0:.*]] = amx.tile_load %W[%[[C0:.*]], %[[GROUP]], %[[C0]], %[[C0]]], %{{.*}} : memref<2x24x16x4xi8> into !amx.tile<12x64xi8>
// CHECK: %[[X0:.*]] = amx.tile_load %X[%[[C0]], %{{.*}}], %{{.*}} : memref<20x96xi8> into !amx.tile<16x48xi8>
// CHECK-NEXT: amx.tile_muli %[[X0]] zext, %[[W0]], %{{.*}} : !amx.tile<16x48xi8>, !amx.tile<12x64xi8>, !amx.tile<16x16xi32>
// CHECK: %[[X1:.*]] = amx.tile_load %X[%[[C4:.*]], %{{.*}}], %{{.*}} : memref<20x96xi8> into !amx.tile<16x48xi8>
// CHECK-NEXT: amx.tile_muli %[[X1]] zext, %[[W0]], %{{.*}}
// CHECK: %[[W1:.*]] = amx.tile_load %W[%{{.*}}, %{{.*}}, %[[C0]], %[[C0]]], %{{.*}} : memref<2x24x16x4xi8> into !amx.tile<12x64xi8>
// CHECK-NEXT: amx.tile_muli %[[X0]] zext, %[[W1]], %{{.*}}
// CHECK-NEXT: amx.tile_muli %[[X1]] zext, %[[W1]], %{{.*}}
// CHECK: llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>
// CHECK-NEXT: amx.tile_store %[[SUMS]][%[[C0]], %[[C0]]], %{{.*}}, %{{.*}} : memref<20x32xi32>, !amx.tile<16x16xi32>
// CHECK-NEXT: amx.tile_store %[[SUMS]][%[[C4]], %[[C0]]],
// CHECK-NEXT: amx.tile_store
// CHECK-NEXT: amx.tile_store
// CHECK: vector.load %[[SUMS]]
// PLAIN-LABEL: func.func private @product
// PLAIN: memref.alloca() {alignment = 64 : i64} : memref<20x2xvector<16xi32>>
// PLAIN-COUNT-1: vector.multi_reduction
func.func private @product(%X: memref<20x96xui8>, %W: memref<2x24x16x4xi8>, %Y: memref<20x32xi32>) attributes {loop.kernel} {
  %sums = memref.alloc() : memref<20x32xi32, "local">
  loop.for "iz" %i to 20 unrolled {
    loop.for "vz" %v to 2 unrolled {
      loop.for "oz" %o to 16 vectorized {
        %zero = arith.constant 0 : i32
        loop.store %zero, %sums[%i, %v * 16 + %o] : memref<20x32xi32, "local">
      }
    }
  }
  loop.for "k" %k to 24 tensorized unroll = disable {
    loop.for "i" %i to 20 unrolled {
      loop.for "v" %v to 2 unrolled {
        loop.for "o" %o to 16 vectorized {
          loop.for "t" %t to 4 contracted {
            %acc = loop.load %sums[%i, %v * 16 + %o] : memref<20x32xi32, "local">
            %x = loop.load %X[%i, %k * 4 + %t] : memref<20x96xui8>
            %w = loop.load %W[%v, %k, %o, %t] : memref<2x24x16x4xi8>
            %xe = arith.extui %x : i8 to i32
            %we = arith.extsi %w : i8 to i32
            %p = arith.muli %xe, %we : i32
            %s = arith.addi %acc, %p : i32
            loop.store %s, %sums[%i, %v * 16 + %o] : memref<20x32xi32, "local">
          }
        }
      }
    }
  }
  loop.for "iy" %i to 20 {
    loop.for "vy" %v to 2 unrolled {
      loop.for "oy" %o to 16 vectorized {
        %s = loop.load %sums[%i, %v * 16 + %o] : memref<20x32xi32, "local">
        loop.store %s, %Y[%i, %v * 16 + %o] : memref<20x32xi32>
      }
    }
  }
  func.return
}

// Other values than zeros before the loop are loaded. The loop of the product has one step, and is not written.
// CHECK-LABEL: func.func private @ones
// CHECK: vector.store
// CHECK: %[[SUM:.*]] = amx.tile_load %Y[
// CHECK-NOT: scf.for
// CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %[[SUM]]
func.func private @ones(%X: memref<16x64xui8>, %W: memref<16x16x4xi8>, %Y: memref<16x16xi32>) attributes {loop.kernel} {
  loop.for "iz" %i to 16 unrolled {
    loop.for "oz" %o to 16 vectorized {
      %one = arith.constant 1 : i32
      loop.store %one, %Y[%i, %o] : memref<16x16xi32>
    }
  }
  loop.for "k" %k to 16 tensorized {
    loop.for "i" %i to 16 unrolled {
      loop.for "o" %o to 16 vectorized {
        loop.for "t" %t to 4 contracted {
          %acc = loop.load %Y[%i, %o] : memref<16x16xi32>
          %x = loop.load %X[%i, %k * 4 + %t] : memref<16x64xui8>
          %w = loop.load %W[%k, %o, %t] : memref<16x16x4xi8>
          %xe = arith.extui %x : i8 to i32
          %we = arith.extsi %w : i8 to i32
          %p = arith.muli %xe, %we : i32
          %s = arith.addi %acc, %p : i32
          loop.store %s, %Y[%i, %o] : memref<16x16xi32>
        }
      }
    }
  }
  func.return
}

// Tiles of a function have the same shape: vectors compute the seven rows, and their sums stay in registers.
// CHECK-LABEL: func.func private @few
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<7xvector<16xi32>>
// CHECK-COUNT-1: amx.tile_muli
// CHECK-NOT: amx.tile_muli
// CHECK: vector.multi_reduction
func.func private @few(%X: memref<16x64xui8>, %W: memref<16x16x4xi8>, %Y: memref<16x16xi32>, %Z: memref<7x16xi32>) attributes {loop.kernel} {
  %sums = memref.alloc() : memref<7x16xi32, "local">
  loop.for "k16" %k to 16 tensorized {
    loop.for "i16" %i to 16 unrolled {
      loop.for "o16" %o to 16 vectorized {
        loop.for "t16" %t to 4 contracted {
          %acc = loop.load %Y[%i, %o] : memref<16x16xi32>
          %x = loop.load %X[%i, %k * 4 + %t] : memref<16x64xui8>
          %w = loop.load %W[%k, %o, %t] : memref<16x16x4xi8>
          %xe = arith.extui %x : i8 to i32
          %we = arith.extsi %w : i8 to i32
          %p = arith.muli %xe, %we : i32
          %s = arith.addi %acc, %p : i32
          loop.store %s, %Y[%i, %o] : memref<16x16xi32>
        }
      }
    }
  }
  loop.for "iz" %i to 7 unrolled {
    loop.for "oz" %o to 16 vectorized {
      %zero = arith.constant 0 : i32
      loop.store %zero, %sums[%i, %o] : memref<7x16xi32, "local">
    }
  }
  loop.for "k" %k to 16 tensorized {
    loop.for "i" %i to 7 unrolled {
      loop.for "o" %o to 16 vectorized {
        loop.for "t" %t to 4 contracted {
          %acc = loop.load %sums[%i, %o] : memref<7x16xi32, "local">
          %x = loop.load %X[%i, %k * 4 + %t] : memref<16x64xui8>
          %w = loop.load %W[%k, %o, %t] : memref<16x16x4xi8>
          %xe = arith.extui %x : i8 to i32
          %we = arith.extsi %w : i8 to i32
          %p = arith.muli %xe, %we : i32
          %s = arith.addi %acc, %p : i32
          loop.store %s, %sums[%i, %o] : memref<7x16xi32, "local">
        }
      }
    }
  }
  loop.for "iy" %i to 7 unrolled {
    loop.for "oy" %o to 16 vectorized {
      %s = loop.load %sums[%i, %o] : memref<7x16xi32, "local">
      loop.store %s, %Z[%i, %o] : memref<7x16xi32>
    }
  }
  func.return
}
