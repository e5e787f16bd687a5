// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @gemm
func.func private @gemm(%A: memref<12x32xf32>, %B: memref<32x64xf32>, %C: memref<12x64xf32>) attributes {
  loop.kernel, loop.num_outputs = 1 : i64,
  loop.schedule = #loop.schedule<[split("i", 6, tail = mask), fuse("i_o", "j", name = "ij"), reorder("k", "i_i", "ij"), cache_write("gemm"), tile("i", "j", 6, 64), set_tail("i", peel), split("k", 4, names = ["ka", "kb"])]>
} {
  // CHECK: loop.for "i" %i to 12 parallel {
  loop.for "i" %i to 12 parallel {
    // CHECK-NEXT: loop.for "j" %j to 64 vectorized tail = mask {
    loop.for "j" %j to 64 vectorized tail = mask {
      // CHECK-NEXT: loop.for "ko" %ko to 4 unroll = disable {
      loop.for "ko" %ko to 4 unroll = disable {
        // CHECK-NEXT: loop.for "ki" %ki to 8 unrolled tail = mask {
        loop.for "ki" %ki to 8 unrolled tail = mask {
          // CHECK-NEXT: loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %ko * 8 + %ki) reads(%A, %B) writes(%C) init {
          loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %ko * 8 + %ki) reads(%A, %B) writes(%C) init {
            %zero = arith.constant 0.0 : f32
            // CHECK: loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
            loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
          } {
            // CHECK: %a = loop.load %A[%vi, %vk] : memref<12x32xf32>
            %a = loop.load %A[%vi, %vk] : memref<12x32xf32>
            %b = loop.load %B[%vk, %vj] : memref<32x64xf32>
            %c = loop.load %C[%vi, %vj] : memref<12x64xf32>
            %p = arith.mulf %a, %b : f32
            %s = arith.addf %c, %p : f32
            loop.store %s, %C[%vi, %vj] : memref<12x64xf32>
          }
        }
      }
    }
  }
  func.return
}

// CHECK-LABEL: @padded
func.func private @padded(%X: memref<?x8xf32>, %n: index, %Y: memref<?x10xf32>) {
  // CHECK: loop.for "n" %i to %n {
  loop.for "n" %i to %n {
    loop.for "w" %w to 10 {
      // CHECK: loop.block "pad" (%vn : spatial ? = %i, %vw : spatial 10 = %w) reads(%X) writes(%Y) {
      loop.block "pad" (%vn : spatial ? = %i, %vw : spatial 10 = %w) reads(%X) writes(%Y) {
        %one = arith.constant 1 : index
        %nine = arith.constant 9 : index
        %low = arith.cmpi sge, %vw, %one : index
        %high = arith.cmpi slt, %vw, %nine : index
        %inside = arith.andi %low, %high : i1
        %v = scf.if %inside -> (f32) {
          // CHECK: loop.load %X[%vn, %vw - 1] : memref<?x8xf32>
          %x = loop.load %X[%vn, %vw - 1] : memref<?x8xf32>
          scf.yield %x : f32
        } else {
          %zero = arith.constant 0.0 : f32
          scf.yield %zero : f32
        }
        loop.store %v, %Y[%vn, %vw] : memref<?x10xf32>
      }
    }
  }
  func.return
}

// CHECK-LABEL: @quasi_affine
func.func @quasi_affine(%X: memref<16xf32>, %i: index) -> memref<4xf32> {
  // CHECK: loop.load %X[%i floordiv 4 * 4 + (%i + 1) mod 4] : memref<16xf32>
  %0 = loop.load %X[(%i floordiv 4) * 4 + (%i + 1) mod 4] : memref<16xf32>
  // CHECK-NEXT: loop.load %X[%i * -2 + 15 - %i * 3] : memref<16xf32>
  %1 = loop.load %X[15 - %i * 2 - 3 * %i] : memref<16xf32>
  // CHECK-NEXT: %w = loop.weight "conv.w" : memref<4xf32>
  %w = loop.weight "conv.w" : memref<4xf32>
  func.return %w : memref<4xf32>
}

// CHECK-LABEL: @semi_affine
func.func @semi_affine(%X: memref<?xf32>, %i: index, %j: index, %n: index) {
  // CHECK: loop.load %X[%i * %n + %j] : memref<?xf32>
  %0 = loop.load %X[%i * %n + %j] : memref<?xf32>
  // CHECK-NEXT: loop.load %X[%i floordiv (%n * 2) + %j mod %n - %n * 3] : memref<?xf32>
  %1 = loop.load %X[%i floordiv (%n * 2) + %j mod %n - 3 * %n] : memref<?xf32>
  func.return
}

// CHECK-LABEL: @checked_index
func.func @checked_index(%i: index, %n: index) {
  // CHECK-NEXT: loop.checked_index %i of %n from_end
  %k = loop.checked_index %i of %n from_end
  // CHECK-NEXT: loop.checked_index %i of 8
  %l = loop.checked_index %i of 8
  func.return
}

// Elements of unsigned buffers are signless scalars.
// CHECK-LABEL: @unsigned
func.func @unsigned(%X: memref<16xui8>, %i: index) {
  // CHECK-NEXT: %x = loop.load %X[%i] : memref<16xui8>
  %x = loop.load %X[%i] : memref<16xui8>
  // CHECK-NEXT: %y = arith.divui %x, %x : i8
  %y = arith.divui %x, %x : i8
  // CHECK-NEXT: loop.store %y, %X[%i] : memref<16xui8>
  loop.store %y, %X[%i] : memref<16xui8>
  func.return
}

// CHECK-LABEL: @checked
func.func @checked(%i: index) -> index {
  // CHECK-NEXT: %k = loop.checked_index %i of 8
  %k = loop.checked_index %i of 8
  // CHECK-NEXT: %m = loop.checked_index %k of 8 from_end
  %m = loop.checked_index %k of 8 from_end
  func.return %m : index
}

// CHECK-LABEL: @extents
// CHECK-SAME: %X: memref<?x8xf32> {loop.extents = array<i64: 0>}
func.func private @extents(%X: memref<?x8xf32> {loop.extents = array<i64: 0>},
                           %Y: memref<?x8xf32> {loop.extents = array<i64: 1>}, %n: index, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %m {
    loop.for "j" %j to 8 {
      // A dynamic index is not checked.
      // CHECK: loop.block "shift" (%vi : spatial %m = %i, %vj : spatial 8 = %j) reads(%X) writes(%Y) {
      loop.block "shift" (%vi : spatial %m = %i, %vj : spatial 8 = %j) reads(%X) writes(%Y) {
        // CHECK-NEXT: loop.load %X[%vi - %n, %vj] : memref<?x8xf32>
        %x = loop.load %X[%vi - %n, %vj] : memref<?x8xf32>
        loop.store %x, %Y[%vi, %vj] : memref<?x8xf32>
      }
    }
  }
  func.return
}
