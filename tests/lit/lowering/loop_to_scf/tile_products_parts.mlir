// RUN: xrelay-opt %s -p 'convert-loop-to-scf{tiles=tdpbusd,tdpbf16ps}' | filecheck %s
// RUN: xrelay-opt %s -p 'convert-loop-to-scf{tiles=tdpbusd}' | filecheck %s --check-prefix BYTES
// RUN: xrelay-opt %s -p 'convert-loop-to-scf{tiles=tdpbusd,tdpbf16ps}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// Three products of parts: each tile of a part is loaded once in a step, and added to the same sums.
// CHECK-LABEL: func.func private @parts
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK: scf.for
// CHECK: %[[W1:.*]] = amx.tile_load %W[%[[C1:.*]], %[[C0:.*]], %{{.*}}, %[[C0]], %[[C0]]], %{{.*}} : memref<2x2x32x16x2xbf16> into !amx.tile<16x32xbf16>
// CHECK: %[[X0:.*]] = amx.tile_load %X[%[[C0]], %[[C0]], %{{.*}}], %{{.*}} : memref<2x32x64xbf16> into !amx.tile<16x32xbf16>
// CHECK-NEXT: %[[S:.*]] = amx.tile_mulf %[[X0]], %[[W1]], %{{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
// CHECK: %[[W0:.*]] = amx.tile_load %W[%[[C0]], %[[C0]], %{{.*}}, %[[C0]], %[[C0]]]
// CHECK-NEXT: %[[S2:.*]] = amx.tile_mulf %[[X0]], %[[W0]], %[[S]] :
// CHECK: %[[X1:.*]] = amx.tile_load %X[%[[C1]], %[[C0]], %{{.*}}]
// CHECK-NEXT: amx.tile_mulf %[[X1]], %[[W0]], %[[S2]] :
// CHECK: amx.tile_mulf
// CHECK: scf.yield
// CHECK-COUNT-4: amx.tile_store
// CHECK-NOT: vector.
// BYTES-NOT: amx.
func.func private @parts(%X: memref<2x32x64xbf16>, %W: memref<2x2x32x16x2xbf16>, %Y: memref<32x32xf32>) attributes {loop.kernel} {
  loop.for "iz" %i to 32 unrolled {
    loop.for "vz" %v to 2 unrolled {
      loop.for "oz" %o to 16 vectorized {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %Y[%i, %v * 16 + %o] : memref<32x32xf32>
      }
    }
  }
  loop.for "k" %k to 32 tensorized unroll = disable {
    loop.for "p" %p to 3 unrolled {
      loop.for "i" %i to 32 unrolled {
        loop.for "v" %v to 2 unrolled {
          loop.for "o" %o to 16 vectorized {
            loop.for "t" %t to 2 contracted {
              %acc = loop.load %Y[%i, %v * 16 + %o] : memref<32x32xf32>
              %x = loop.load %X[%p floordiv 2, %i, %k * 2 + %t] : memref<2x32x64xbf16>
              %w = loop.load %W[(2 - %p) floordiv 2, %v, %k, %o, %t] : memref<2x2x32x16x2xbf16>
              %xe = arith.extf %x : bf16 to f32
              %we = arith.extf %w : bf16 to f32
              %q = arith.mulf %xe, %we : f32
              %s = arith.addf %acc, %q : f32
              loop.store %s, %Y[%i, %v * 16 + %o] : memref<32x32xf32>
            }
          }
        }
      }
    }
  }
  func.return
}

// Each of two tiles of the data prefetches half of the rows of both parts of the next panel.
// CHECK-LABEL: func.func private @panels
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-16: memref.prefetch %W[
// CHECK-NOT: memref.prefetch
// CHECK: amx.tile_load
func.func private @panels(%X: memref<2x32x64xbf16>, %W: memref<2x4x32x16x2xbf16>, %Y: memref<32x64xf32>) attributes {loop.kernel} {
  loop.for "panel" %n to 4 {
    loop.for "tile" %m to 2 {
      loop.for "k" %k to 32 tensorized attributes {loop.prefetch} {
        loop.for "p" %p to 3 unrolled {
          loop.for "i" %i to 16 unrolled {
            loop.for "o" %o to 16 vectorized {
              loop.for "t" %t to 2 contracted {
                %acc = loop.load %Y[%m * 16 + %i, %n * 16 + %o] : memref<32x64xf32>
                %x = loop.load %X[%p floordiv 2, %m * 16 + %i, %k * 2 + %t] : memref<2x32x64xbf16>
                %w = loop.load %W[(2 - %p) floordiv 2, %n, %k, %o, %t] : memref<2x4x32x16x2xbf16>
                %xe = arith.extf %x : bf16 to f32
                %we = arith.extf %w : bf16 to f32
                %q = arith.mulf %xe, %we : f32
                %s = arith.addf %acc, %q : f32
                loop.store %s, %Y[%m * 16 + %i, %n * 16 + %o] : memref<32x64xf32>
              }
            }
          }
        }
      }
    }
  }
  func.return
}

// Each of an unknown number of tiles prefetches an eighth of the rows.
// CHECK-LABEL: func.func private @dynamic_rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: memref.prefetch %W[
// CHECK-NOT: memref.prefetch
// CHECK: amx.tile_load
func.func private @dynamic_rows(%X: memref<2x?x64xbf16> {loop.extents = array<i64: 1>}, %W: memref<2x4x32x16x2xbf16>, %Y: memref<?x64xf32> {loop.extents = array<i64: 1>}, %tiles: index, %rows: index) attributes {loop.kernel} {
  loop.for "panel" %n to 4 {
    loop.for "tile" %m to %tiles {
      loop.for "k" %k to 32 tensorized attributes {loop.prefetch} {
        loop.for "p" %p to 3 unrolled {
          loop.for "i" %i to 16 unrolled {
            loop.for "o" %o to 16 vectorized {
              loop.for "t" %t to 2 contracted {
                %acc = loop.load %Y[%m * 16 + %i, %n * 16 + %o] : memref<?x64xf32>
                %x = loop.load %X[%p floordiv 2, %m * 16 + %i, %k * 2 + %t] : memref<2x?x64xbf16>
                %w = loop.load %W[(2 - %p) floordiv 2, %n, %k, %o, %t] : memref<2x4x32x16x2xbf16>
                %xe = arith.extf %x : bf16 to f32
                %we = arith.extf %w : bf16 to f32
                %q = arith.mulf %xe, %we : f32
                %s = arith.addf %acc, %q : f32
                loop.store %s, %Y[%m * 16 + %i, %n * 16 + %o] : memref<?x64xf32>
              }
            }
          }
        }
      }
    }
  }
  func.return
}

// The sizes of the factors are known only at run time. After the last panel, its own rows are prefetched again.
// CHECK-LABEL: func.func private @open_panels
// CHECK: arith.minsi
// CHECK: %[[STEPS:.*]] = arith.divui %pairs, %{{.*}}
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[STEPS]]
// CHECK-COUNT-16: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: amx.tile_load
// CHECK: amx.tile_load %{{.*}}[%{{.*}}], %terms : memref<?xbf16> into !amx.tile<16x32xbf16>
func.func private @open_panels(%X: memref<2x32x?xbf16> {loop.extents = array<i64: 0>}, %W: memref<2x?x?x16x2xbf16> {loop.extents = array<i64: 2, 1>}, %Y: memref<32x?xf32> {loop.extents = array<i64: 3>},
                                  %terms: index, %pairs: index, %panels: index, %columns: index) attributes {loop.kernel} {
  %c16 = arith.constant 16 : index
  %steps = arith.divui %pairs, %c16 : index
  %count = arith.muli %steps, %c16 : index
  loop.for "panel" %n to %panels {
    loop.for "tile" %m to 2 {
      loop.for "k" %k to %count tensorized attributes {loop.prefetch} {
        loop.for "p" %p to 3 unrolled {
          loop.for "i" %i to 16 unrolled {
            loop.for "o" %o to 16 vectorized {
              loop.for "t" %t to 2 contracted {
                %acc = loop.load %Y[%m * 16 + %i, %n * 16 + %o] : memref<32x?xf32>
                %x = loop.load %X[%p floordiv 2, %m * 16 + %i, %k * 2 + %t] : memref<2x32x?xbf16>
                %w = loop.load %W[(2 - %p) floordiv 2, %n, %k, %o, %t] : memref<2x?x?x16x2xbf16>
                %xe = arith.extf %x : bf16 to f32
                %we = arith.extf %w : bf16 to f32
                %q = arith.mulf %xe, %we : f32
                %s = arith.addf %acc, %q : f32
                loop.store %s, %Y[%m * 16 + %i, %n * 16 + %o] : memref<32x?xf32>
              }
            }
          }
        }
      }
    }
  }
  func.return
}

// REMARK: remark: convert-loop-to-scf: loop.for: k1 is computed on vectors, not on tiles: the tiles of its kernel have more rows or terms
// REMARK: remark: convert-loop-to-scf: loop.for: kg is computed on vectors, not on tiles: it does not contain a contracted loop
// REMARK-NOT: remark:
// All tiles of a function have the same shape, that with the most terms: vectors compute the product of 12 groups.
// CHECK-LABEL: func.func private @shapes
// CHECK: amx.tile_mulf %{{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
// CHECK-NOT: amx.tile_mulf
func.func private @shapes(%A: memref<16x24xbf16>, %B: memref<12x16x2xbf16>, %C: memref<16x32xbf16>, %D: memref<16x16x2xbf16>, %Y: memref<16x16xf32>, %Z: memref<16x16xf32>) attributes {loop.kernel} {
  loop.for "k1" %k1 to 12 tensorized {
    loop.for "i1" %i1 to 16 unrolled {
      loop.for "o1" %o1 to 16 vectorized {
        loop.for "t1" %t1 to 2 contracted {
          %acc1 = loop.load %Y[%i1, %o1] : memref<16x16xf32>
          %x1 = loop.load %A[%i1, %k1 * 2 + %t1] : memref<16x24xbf16>
          %w1 = loop.load %B[%k1, %o1, %t1] : memref<12x16x2xbf16>
          %xe1 = arith.extf %x1 : bf16 to f32
          %we1 = arith.extf %w1 : bf16 to f32
          %q1 = arith.mulf %xe1, %we1 : f32
          %s1 = arith.addf %acc1, %q1 : f32
          loop.store %s1, %Y[%i1, %o1] : memref<16x16xf32>
        }
      }
    }
  }
  loop.for "k2" %k2 to 16 tensorized {
    loop.for "i2" %i2 to 16 unrolled {
      loop.for "o2" %o2 to 16 vectorized {
        loop.for "t2" %t2 to 2 contracted {
          %acc2 = loop.load %Z[%i2, %o2] : memref<16x16xf32>
          %x2 = loop.load %C[%i2, %k2 * 2 + %t2] : memref<16x32xbf16>
          %w2 = loop.load %D[%k2, %o2, %t2] : memref<16x16x2xbf16>
          %xe2 = arith.extf %x2 : bf16 to f32
          %we2 = arith.extf %w2 : bf16 to f32
          %q2 = arith.mulf %xe2, %we2 : f32
          %s2 = arith.addf %acc2, %q2 : f32
          loop.store %s2, %Z[%i2, %o2] : memref<16x16xf32>
        }
      }
    }
  }
  func.return
}

// A condition that is not proven leaves a product to vectors.
// CHECK-LABEL: func.func private @guarded
// CHECK-NOT: amx.
func.func private @guarded(%X: memref<16x32xbf16>, %W: memref<16x16x2xbf16>, %Y: memref<16x16xf32>, %rows: index) attributes {loop.kernel} {
  loop.for "kg" %k to 16 tensorized {
    loop.for "i" %i to 16 unrolled {
      loop.for "o" %o to 16 vectorized {
        %inside = arith.cmpi slt, %i, %rows : index
        scf.if %inside {
          loop.for "t" %t to 2 contracted {
            %acc = loop.load %Y[%i, %o] : memref<16x16xf32>
            %x = loop.load %X[%i, %k * 2 + %t] : memref<16x32xbf16>
            %w = loop.load %W[%k, %o, %t] : memref<16x16x2xbf16>
            %xe = arith.extf %x : bf16 to f32
            %we = arith.extf %w : bf16 to f32
            %q = arith.mulf %xe, %we : f32
            %s = arith.addf %acc, %q : f32
            loop.store %s, %Y[%i, %o] : memref<16x16xf32>
          }
        }
      }
    }
  }
  func.return
}
