// RUN: xrelay-opt %s -p 'loop-tensorize{loop=k instruction=tdpbusd}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-unroll{loop=i1},loop-tensorize{loop=k1 instruction=tdpbusd}' | filecheck %s --check-prefix ONE
// RUN: not xrelay-opt %s -p 'loop-tensorize{loop=k instruction=fma}' 2>&1 | filecheck %s --check-prefix NAME
// RUN: not xrelay-opt %s -p 'loop-tensorize{loop=i instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix LOOP
// RUN: not xrelay-opt %s -p 'loop-tensorize{loop=o instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix OPEN
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=k},loop-tensorize{loop=k instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix KIND
// RUN: not xrelay-opt %s -p 'loop-tensorize{loop=k2 instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix WIDE
// RUN: not xrelay-opt %s -p 'loop-split{loop=k factor=3},loop-reorder{loops=k_o,k_i},loop-tensorize{loop=k_i instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix STEPS
// RUN: not xrelay-opt %s -p 'loop-split{loop=i1 factor=2},loop-reorder{loops=i1_o,k1,i1_i},loop-unroll{loop=i1_i},loop-tensorize{loop=k1 instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix FEW
// RUN: xrelay-opt %s -p 'loop-unroll{loop=pf},loop-tensorize{loop=kf instruction=tdpbf16ps}' | filecheck %s --check-prefix PARTS
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=pf},loop-tensorize{loop=kf instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix SUMS
// RUN: not xrelay-opt %s -p 'loop-tensorize{loop=j instruction=tdpbusd}' 2>&1 | filecheck %s --check-prefix NEST

// CHECK: loop.for "k" %k to 12 tensorized {
// CHECK-NEXT: loop.for "i" %i to 20 unrolled {
// NAME: error: tensorize("k", "fma"): loop 'k': no instruction is called 'fma'; help: known are tdpbusd, tdpbf16ps
// LOOP: error: tensorize("i", "tdpbusd"): loop 'i': it is unrolled; help: tensorize a serial loop
// OPEN: error: tensorize("o", "tdpbusd"): loop 'o': it is vectorized; help: tensorize a serial loop
// KIND: error: tensorize("k", "tdpbusd"): loop 'k': it is unrolled
// STEPS: error: tensorize("k_i", "tdpbusd"): loop 'k_i': its 3 iterations are no multiple of a number from 4 to 16
// FEW: error: tensorize("k1", "tdpbusd"): loop 'k1': there are 2 rows and 16 lanes, a tile has at least 4 x 16
// NEST: error: tensorize("j", "tdpbusd"): loop 'j': it does not contain a contracted loop; help: contract the loops inside first, or change the layout
func.func private @product(%X: memref<20x48xui8>, %W: memref<2x12x16x4xi8>, %Y: memref<20x32xi32>) attributes {loop.kernel} {
  loop.for "k" %k to 12 {
    loop.for "i" %i to 20 unrolled {
      loop.for "v" %v to 2 unrolled {
        loop.for "o" %o to 16 vectorized {
          loop.for "t" %t to 4 contracted {
            loop.block "dot" (%vi : spatial 20 = %i, %vj : spatial 32 = %v * 16 + %o, %vk : reduce 12 = %k, %vt : reduce 4 = %t) reads(%X, %W) writes(%Y) init {
              %zero = arith.constant 0 : i32
              loop.store %zero, %Y[%vi, %vj] : memref<20x32xi32>
            } {
              %acc = loop.load %Y[%vi, %vj] : memref<20x32xi32>
              %x = loop.load %X[%vi, %vk * 4 + %vt] : memref<20x48xui8>
              %w = loop.load %W[%vj floordiv 16, %vk, %vj mod 16, %vt] : memref<2x12x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %s = arith.addi %acc, %p : i32
              loop.store %s, %Y[%vi, %vj] : memref<20x32xi32>
            }
          }
        }
      }
    }
  }
  func.return
}

// A tile may have one vector of columns.
// ONE: loop.for "k1" %k to 16 tensorized {
func.func private @one(%X: memref<16x64xui8>, %W: memref<16x16x4xi8>, %Y: memref<16x16xi32>) attributes {loop.kernel} {
  loop.for "k1" %k to 16 {
    loop.for "i1" %i to 16 {
      loop.for "o1" %o to 16 vectorized {
        loop.for "t1" %t to 4 contracted {
          loop.block "one" (%vi : spatial 16 = %i, %vo : spatial 16 = %o, %vk : reduce 16 = %k, %vt : reduce 4 = %t) reads(%X, %W) writes(%Y) {
            %acc = loop.load %Y[%vi, %vo] : memref<16x16xi32>
            %x = loop.load %X[%vi, %vk * 4 + %vt] : memref<16x64xui8>
            %w = loop.load %W[%vk, %vo, %vt] : memref<16x16x4xi8>
            %xe = arith.extui %x : i8 to i32
            %we = arith.extsi %w : i8 to i32
            %p = arith.muli %xe, %we : i32
            %s = arith.addi %acc, %p : i32
            loop.store %s, %Y[%vi, %vo] : memref<16x16xi32>
          }
        }
      }
    }
  }
  func.return
}

// WIDE: error: tensorize("k2", "tdpbusd"): loop 'k2': 3 x 2 tiles of sums do not fit into 8 registers
func.func private @wide(%X: memref<48x64xui8>, %W: memref<2x16x16x4xi8>, %Y: memref<48x32xi32>) attributes {loop.kernel} {
  loop.for "k2" %k to 16 {
    loop.for "i2" %i to 48 unrolled {
      loop.for "v2" %v to 2 unrolled {
        loop.for "o2" %o to 16 vectorized {
          loop.for "t2" %t to 4 contracted {
            loop.block "wide" (%vi : spatial 48 = %i, %vj : spatial 32 = %v * 16 + %o, %vk : reduce 16 = %k, %vt : reduce 4 = %t) reads(%X, %W) writes(%Y) {
              %acc = loop.load %Y[%vi, %vj] : memref<48x32xi32>
              %x = loop.load %X[%vi, %vk * 4 + %vt] : memref<48x64xui8>
              %w = loop.load %W[%vj floordiv 16, %vk, %vj mod 16, %vt] : memref<2x16x16x4xi8>
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %s = arith.addi %acc, %p : i32
              loop.store %s, %Y[%vi, %vj] : memref<48x32xi32>
            }
          }
        }
      }
    }
  }
  func.return
}

func.func private @plain(%X: memref<16xf32>, %Y: memref<16xf32>) attributes {loop.kernel} {
  loop.for "j" %j to 16 {
    loop.block "copy" (%vj : spatial 16 = %j) reads(%X) writes(%Y) {
      %x = loop.load %X[%vj] : memref<16xf32>
      loop.store %x, %Y[%vj] : memref<16xf32>
    }
  }
  func.return
}

// Products of parts of the factors add up, too.
// PARTS: loop.for "kf" %k to 32 tensorized {
// PARTS-NEXT: loop.for "pf" %p to 3 unrolled {
// SUMS: error: tensorize("kf", "tdpbusd"): loop 'kf': it does not contain exactly one product of tdpbusd
func.func private @parts(%X: memref<2x32x64xbf16>, %W: memref<2x32x16x2xbf16>, %Y: memref<32x16xf32>) attributes {loop.kernel} {
  loop.for "kf" %k to 32 {
    loop.for "pf" %p to 3 {
      loop.for "if" %i to 32 unrolled {
        loop.for "of" %o to 16 vectorized {
          loop.for "tf" %t to 2 contracted {
            loop.block "parts" (%vi : spatial 32 = %i, %vo : spatial 16 = %o, %vp : reduce 3 = %p, %vk : reduce 32 = %k, %vt : reduce 2 = %t) reads(%X, %W) writes(%Y) {
              %acc = loop.load %Y[%vi, %vo] : memref<32x16xf32>
              %x = loop.load %X[%vp floordiv 2, %vi, %vk * 2 + %vt] : memref<2x32x64xbf16>
              %w = loop.load %W[(2 - %vp) floordiv 2, %vk, %vo, %vt] : memref<2x32x16x2xbf16>
              %xe = arith.extf %x : bf16 to f32
              %we = arith.extf %w : bf16 to f32
              %q = arith.mulf %xe, %we : f32
              %s = arith.addf %acc, %q : f32
              loop.store %s, %Y[%vi, %vo] : memref<32x16xf32>
            }
          }
        }
      }
    }
  }
  func.return
}
