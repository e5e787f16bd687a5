// RUN: xrelay-opt %s -p 'loop-contract{loop=k lanes=o}' --split-input-file | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-contract{loop=o lanes=j}' 2>&1 | filecheck %s --check-prefix SUMS
// RUN: not xrelay-opt %s -p 'loop-contract{loop=o lanes=k}' 2>&1 | filecheck %s --check-prefix ORDER
// RUN: not xrelay-opt %s -p 'loop-vectorize{loop=o}' 2>&1 | filecheck %s --check-prefix ALONE
// RUN: not xrelay-opt %s -p 'loop-contract{loop=k3 lanes=o3}' 2>&1 | filecheck %s --check-prefix THREE
// RUN: not xrelay-opt %s -p 'loop-contract{loop=k_s lanes=o_s}' 2>&1 | filecheck %s --check-prefix SIGNED
// RUN: not xrelay-opt %s -p 'loop-contract{loop=k_t lanes=o_t}' 2>&1 | filecheck %s --check-prefix TURNED
// RUN: xrelay-opt %s -p 'loop-contract{loop=k_f lanes=o_f}' | filecheck %s --check-prefix FLOATS
// RUN: xrelay-opt %s -p 'loop-contract{loop=k_u lanes=o_u}' | filecheck %s --check-prefix UNSIGNED
// RUN: not xrelay-opt %s -p 'loop-contract{loop=k_4 lanes=o_4}' 2>&1 | filecheck %s --check-prefix FOUR
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=k},loop-contract{loop=k lanes=o}' 2>&1 | filecheck %s --check-prefix KIND

// CHECK: loop.for "o" %o to 16 vectorized {
// CHECK-NEXT: loop.for "k" %k to 4 contracted {
// CHECK-NEXT: loop.block "dot"
// SUMS: error: contract("o", "j"): loop 'o': it does not contain exactly one block; help: contract an innermost loop
// ORDER: error: contract("o", "k"): loop 'o': it is not the only loop directly inside of 'k'; help: reorder the loops first
// ALONE: error: vectorize("o"): loop 'o': it is not innermost: loop 'k' is inside it
// KIND: error: contract("k", "o"): loop 'k': it is unrolled; help: contract serial loops
func.func private @dot(%X: memref<3x4xui8>, %W: memref<2x16x4xi8>, %Y: memref<3x2x16xi32>) attributes {loop.kernel} {
  loop.for "i" %i to 3 {
    loop.for "j" %j to 2 {
      loop.for "o" %o to 16 {
        loop.for "k" %k to 4 {
          loop.block "dot" (%vi : spatial 3 = %i, %vj : spatial 2 = %j, %vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) init {
            %zero = arith.constant 0 : i32
            loop.store %zero, %Y[%vi, %vj, %vo] : memref<3x2x16xi32>
          } {
            %acc = loop.load %Y[%vi, %vj, %vo] : memref<3x2x16xi32>
            %x = loop.load %X[%vi, %vk] : memref<3x4xui8>
            %w = loop.load %W[%vj, %vo, %vk] : memref<2x16x4xi8>
            %xe = arith.extui %x : i8 to i32
            %we = arith.extsi %w : i8 to i32
            %p = arith.muli %xe, %we : i32
            %s = arith.addi %acc, %p : i32
            loop.store %s, %Y[%vi, %vj, %vo] : memref<3x2x16xi32>
          }
        }
      }
    }
  }
  func.return
}

// THREE: error: contract("k3", "o3"): loop 'k3': it has 3 iterations, 4 products are added up at once; help: split it by 4 and contract the inner loop
func.func private @three(%X: memref<3xui8>, %W: memref<16x3xi8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o3" %o to 16 {
    loop.for "k3" %k to 3 {
      loop.block "three" (%vo : spatial 16 = %o, %vk : reduce 3 = %k) reads(%X, %W) writes(%Y) {
        %acc = loop.load %Y[%vo] : memref<16xi32>
        %x = loop.load %X[%vk] : memref<3xui8>
        %w = loop.load %W[%vo, %vk] : memref<16x3xi8>
        %xe = arith.extui %x : i8 to i32
        %we = arith.extsi %w : i8 to i32
        %p = arith.muli %xe, %we : i32
        %s = arith.addi %acc, %p : i32
        loop.store %s, %Y[%vo] : memref<16xi32>
      }
    }
  }
  func.return
}

// SIGNED: error: contract("k_s", "o_s"): loop 'k_s': block 'signed' does not add the product of a ui8 and an i8 to an i32, or of two bf16 to an f32; help: vectorize the loop of lanes, or change the layout
func.func private @signed(%X: memref<4xi8>, %W: memref<16x4xi8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o_s" %o to 16 {
    loop.for "k_s" %k to 4 {
      loop.block "signed" (%vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) {
        %acc = loop.load %Y[%vo] : memref<16xi32>
        %x = loop.load %X[%vk] : memref<4xi8>
        %w = loop.load %W[%vo, %vk] : memref<16x4xi8>
        %xe = arith.extsi %x : i8 to i32
        %we = arith.extsi %w : i8 to i32
        %p = arith.muli %xe, %we : i32
        %s = arith.addi %acc, %p : i32
        loop.store %s, %Y[%vo] : memref<16xi32>
      }
    }
  }
  func.return
}

// TURNED: error: contract("k_t", "o_t"): loop 'k_t': block 'turned' reads factors (1, 16) elements apart along the two loops, not (4, 1); help: vectorize the loop of lanes, or change the layout
func.func private @turned(%X: memref<4xui8>, %W: memref<4x16xi8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o_t" %o to 16 {
    loop.for "k_t" %k to 4 {
      loop.block "turned" (%vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) {
        %acc = loop.load %Y[%vo] : memref<16xi32>
        %x = loop.load %X[%vk] : memref<4xui8>
        %w = loop.load %W[%vk, %vo] : memref<4x16xi8>
        %xe = arith.extui %x : i8 to i32
        %we = arith.extsi %w : i8 to i32
        %p = arith.muli %xe, %we : i32
        %s = arith.addi %acc, %p : i32
        loop.store %s, %Y[%vo] : memref<16xi32>
      }
    }
  }
  func.return
}

// FLOATS: loop.for "k_f" %k to 2 contracted {
func.func private @floats(%X: memref<2xbf16>, %W: memref<16x2xbf16>, %Y: memref<16xf32>) attributes {loop.kernel} {
  loop.for "o_f" %o to 16 {
    loop.for "k_f" %k to 2 {
      loop.block "floats" (%vo : spatial 16 = %o, %vk : reduce 2 = %k) reads(%X, %W) writes(%Y) {
        %acc = loop.load %Y[%vo] : memref<16xf32>
        %x = loop.load %X[%vk] : memref<2xbf16>
        %w = loop.load %W[%vo, %vk] : memref<16x2xbf16>
        %xe = arith.extf %x : bf16 to f32
        %we = arith.extf %w : bf16 to f32
        %p = arith.mulf %xe, %we : f32
        %s = arith.addf %acc, %p : f32
        loop.store %s, %Y[%vo] : memref<16xf32>
      }
    }
  }
  func.return
}

// FOUR: error: contract("k_4", "o_4"): loop 'k_4': it has 4 iterations, 2 products are added up at once; help: split it by 2
func.func private @four(%X: memref<4xbf16>, %W: memref<16x4xbf16>, %Y: memref<16xf32>) attributes {loop.kernel} {
  loop.for "o_4" %o to 16 {
    loop.for "k_4" %k to 4 {
      loop.block "four" (%vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) {
        %acc = loop.load %Y[%vo] : memref<16xf32>
        %x = loop.load %X[%vk] : memref<4xbf16>
        %w = loop.load %W[%vo, %vk] : memref<16x4xbf16>
        %xe = arith.extf %x : bf16 to f32
        %we = arith.extf %w : bf16 to f32
        %p = arith.mulf %xe, %we : f32
        %s = arith.addf %acc, %p : f32
        loop.store %s, %Y[%vo] : memref<16xf32>
      }
    }
  }
  func.return
}

// The unsigned bytes are those of the lanes.
// UNSIGNED: loop.for "o_u" %o to 16 vectorized {
// UNSIGNED-NEXT: loop.for "k_u" %k to 4 contracted {
func.func private @unsigned_lanes(%X: memref<4xi8>, %W: memref<16x4xui8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o_u" %o to 16 {
    loop.for "k_u" %k to 4 {
      loop.block "unsigned" (%vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) {
        %acc = loop.load %Y[%vo] : memref<16xi32>
        %x = loop.load %X[%vk] : memref<4xi8>
        %w = loop.load %W[%vo, %vk] : memref<16x4xui8>
        %xe = arith.extsi %x : i8 to i32
        %we = arith.extui %w : i8 to i32
        %p = arith.muli %xe, %we : i32
        %s = arith.addi %acc, %p : i32
        loop.store %s, %Y[%vo] : memref<16xi32>
      }
    }
  }
  func.return
}
