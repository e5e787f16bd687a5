// RUN: xrelay-opt %s -p 'loop-parametrize-kernels{least=2}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-parametrize-kernels{least=2},loop-apply-schedules,loop-lower-blocks,convert-loop-to-scf{tiles=tdpbf16ps}' | filecheck %s --check-prefix TILES

// The number of terms is an argument, rounded down to a multiple of the 16 pairs of an instruction. 24 pairs are none.
// CHECK: func.func private @product(%X: memref<16x?xbf16>
// CHECK: %[[N:.*]] = arith.divui %size1, %{{.*}} : index
// CHECK: %multiple = arith.muli %[[N]], %{{.*}}
// CHECK: loop.for "k" %k to %multiple {
// CHECK-NOT: @product_1
// CHECK: func.func private @product_2(%X: memref<16x48xbf16>

// The distance of the rows of the data is the argument.
// TILES-LABEL: func.func private @product(
// TILES: amx.tile_zero
// TILES: %[[STEPS:.*]] = arith.divui %size1, %
// TILES: scf.for %{{.*}} to %[[STEPS]] step
// TILES: amx.tile_load %{{.*}}[%{{.*}}], %size0 : memref<?xbf16> into !amx.tile<16x32xbf16>
// TILES: amx.tile_mulf
// TILES: amx.tile_store
// TILES-NOT: vector.
// TILES: func.func private @product_2(
func.func private @product(%X: memref<16x64xbf16>, %W: memref<3x32x16x2xbf16>, %Y: memref<16x48xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("j", 16), reorder("j_o", "k", "i", "j_i", "t"), contract("t", "j_i"), unroll("i"), disable_unroll("k"), tensorize("k", "tdpbf16ps")]>} {
  loop.for "i" %i to 16 {
    loop.for "j" %j to 48 {
      loop.for "k" %k to 32 {
        loop.for "t" %t to 2 {
          loop.block "product" (%vi : spatial 16 = %i, %vj : spatial 48 = %j, %vk : reduce 32 = %k, %vt : reduce 2 = %t) reads(%X, %W) writes(%Y) init {
            %zero = arith.constant 0.0 : f32
            loop.store %zero, %Y[%vi, %vj] : memref<16x48xf32>
          } {
            %acc = loop.load %Y[%vi, %vj] : memref<16x48xf32>
            %x = loop.load %X[%vi, %vk * 2 + %vt] : memref<16x64xbf16>
            %w = loop.load %W[%vj floordiv 16, %vk, %vj mod 16, %vt] : memref<3x32x16x2xbf16>
            %xe = arith.extf %x : bf16 to f32
            %we = arith.extf %w : bf16 to f32
            %q = arith.mulf %xe, %we : f32
            %s = arith.addf %acc, %q : f32
            loop.store %s, %Y[%vi, %vj] : memref<16x48xf32>
          }
        }
      }
    }
  }
  func.return
}
func.func private @product_1(%X: memref<16x128xbf16>, %W: memref<3x64x16x2xbf16>, %Y: memref<16x48xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("j", 16), reorder("j_o", "k", "i", "j_i", "t"), contract("t", "j_i"), unroll("i"), disable_unroll("k"), tensorize("k", "tdpbf16ps")]>} {
  loop.for "i" %i to 16 {
    loop.for "j" %j to 48 {
      loop.for "k" %k to 64 {
        loop.for "t" %t to 2 {
          loop.block "product" (%vi : spatial 16 = %i, %vj : spatial 48 = %j, %vk : reduce 64 = %k, %vt : reduce 2 = %t) reads(%X, %W) writes(%Y) init {
            %zero = arith.constant 0.0 : f32
            loop.store %zero, %Y[%vi, %vj] : memref<16x48xf32>
          } {
            %acc = loop.load %Y[%vi, %vj] : memref<16x48xf32>
            %x = loop.load %X[%vi, %vk * 2 + %vt] : memref<16x128xbf16>
            %w = loop.load %W[%vj floordiv 16, %vk, %vj mod 16, %vt] : memref<3x64x16x2xbf16>
            %xe = arith.extf %x : bf16 to f32
            %we = arith.extf %w : bf16 to f32
            %q = arith.mulf %xe, %we : f32
            %s = arith.addf %acc, %q : f32
            loop.store %s, %Y[%vi, %vj] : memref<16x48xf32>
          }
        }
      }
    }
  }
  func.return
}
func.func private @product_2(%X: memref<16x48xbf16>, %W: memref<3x24x16x2xbf16>, %Y: memref<16x48xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("j", 16), reorder("j_o", "k", "i", "j_i", "t"), contract("t", "j_i"), unroll("i"), disable_unroll("k"), tensorize("k", "tdpbf16ps")]>} {
  loop.for "i" %i to 16 {
    loop.for "j" %j to 48 {
      loop.for "k" %k to 24 {
        loop.for "t" %t to 2 {
          loop.block "product" (%vi : spatial 16 = %i, %vj : spatial 48 = %j, %vk : reduce 24 = %k, %vt : reduce 2 = %t) reads(%X, %W) writes(%Y) init {
            %zero = arith.constant 0.0 : f32
            loop.store %zero, %Y[%vi, %vj] : memref<16x48xf32>
          } {
            %acc = loop.load %Y[%vi, %vj] : memref<16x48xf32>
            %x = loop.load %X[%vi, %vk * 2 + %vt] : memref<16x48xbf16>
            %w = loop.load %W[%vj floordiv 16, %vk, %vj mod 16, %vt] : memref<3x24x16x2xbf16>
            %xe = arith.extf %x : bf16 to f32
            %we = arith.extf %w : bf16 to f32
            %q = arith.mulf %xe, %we : f32
            %s = arith.addf %acc, %q : f32
            loop.store %s, %Y[%vi, %vj] : memref<16x48xf32>
          }
        }
      }
    }
  }
  func.return
}
