// RUN: xrelay-opt %s --split-input-file -p loop-lower-blocks | filecheck %s

// The init of a reduction moves into a separate nest before the reduction's loops, with the kinds of the spatial ones.
// CHECK-LABEL: func.func @init
// CHECK: loop.for "i" %i to 4 {
// CHECK-NEXT: loop.for "v_init" %v_init to 16 vectorized {
// CHECK-NEXT: %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: loop.store %z, %Y[%i, %v_init] : memref<4x16xf32>
// CHECK: loop.for "k" %k to 8 {
// CHECK-NEXT: loop.for "v" %v to 16 vectorized {
// CHECK-NEXT: %x = loop.load %X[%i, %k, %v] : memref<4x8x16xf32>
// CHECK-NEXT: %y = loop.load %Y[%i, %v] : memref<4x16xf32>
// CHECK-NOT: loop.block
func.func @init(%X: memref<4x8x16xf32>, %Y: memref<4x16xf32>) {
  loop.for "i" %i to 4 {
    loop.for "k" %k to 8 {
      loop.for "v" %v to 16 vectorized {
        loop.block "sum" (%vi : spatial 4 = %i, %vv : spatial 16 = %v, %vk : reduce 8 = %k) reads(%X) writes(%Y) init {
          %z = arith.constant 0.0 : f32
          loop.store %z, %Y[%vi, %vv] : memref<4x16xf32>
        } {
          %x = loop.load %X[%vi, %vk, %vv] : memref<4x8x16xf32>
          %y = loop.load %Y[%vi, %vv] : memref<4x16xf32>
          %s = arith.addf %y, %x : f32
          loop.store %s, %Y[%vi, %vv] : memref<4x16xf32>
        }
      }
    }
  }
  func.return
}

// -----

// A loop that serves a spatial and a reduce variable is repeated for the init.
// CHECK-LABEL: func.func @init_of_fused
// CHECK: loop.for "f_init" %f_init to 32 {
// CHECK-NEXT: %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: loop.store %z, %Y[%f_init floordiv 8] : memref<4xf32>
// CHECK: loop.for "f" %f to 32 {
// CHECK-NEXT: loop.load %X[%f floordiv 8, %f mod 8] : memref<4x8xf32>
// CHECK-NOT: scf.if
func.func @init_of_fused(%X: memref<4x8xf32>, %Y: memref<4xf32>) {
  loop.for "f" %f to 32 {
    loop.block "sum" (%vi : spatial 4 = %f floordiv 8, %vk : reduce 8 = %f mod 8) reads(%X) writes(%Y) init {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%vi] : memref<4xf32>
    } {
      %x = loop.load %X[%vi, %vk] : memref<4x8xf32>
      %y = loop.load %Y[%vi] : memref<4xf32>
      %s = arith.addf %y, %x : f32
      loop.store %s, %Y[%vi] : memref<4xf32>
    }
  }
  func.return
}

// -----

// An init that reads results of the nest stays inside, under a condition.
// CHECK-LABEL: func.func @init_in_place
// CHECK: loop.for "k" %k to 8 {
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %k, %[[ZERO]] : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: %z = loop.load %T[0] : memref<1xf32>
// CHECK-NEXT: loop.store %z, %Y[0] : memref<4xf32>
func.func @init_in_place(%X: memref<8xf32>, %T: memref<1xf32>, %Y: memref<4xf32>) {
  loop.for "k" %k to 8 {
    loop.block "start" (%a : spatial 8 = %k) reads(%X) writes(%T) {
      %x = loop.load %X[%a] : memref<8xf32>
      loop.store %x, %T[0] : memref<1xf32>
    }
    loop.block "sum" (%vk : reduce 8 = %k) reads(%X, %T) writes(%Y) init {
      %z = loop.load %T[0] : memref<1xf32>
      loop.store %z, %Y[0] : memref<4xf32>
    } {
      %x = loop.load %X[%vk] : memref<8xf32>
      %y = loop.load %Y[0] : memref<4xf32>
      %s = arith.addf %y, %x : f32
      loop.store %s, %Y[0] : memref<4xf32>
    }
  }
  func.return
}

// -----

// peel: full tiles without a condition, then a loop over the remainder.
// CHECK-LABEL: func.func @peel
// CHECK: loop.for "io" %io to 2 {
// CHECK-NEXT: loop.for "ii" %ii to 16 vectorized {
// CHECK-NEXT: loop.load %X[%io * 16 + %ii] : memref<40xf32>
// CHECK-NOT: scf.if
// CHECK: loop.for "ii_tail" %{{.*}} to 8 vectorized {
// CHECK-NEXT: loop.load %X[%{{.*}} + 32] : memref<40xf32>
func.func @peel(%X: memref<40xf32>, %Y: memref<40xf32>) {
  loop.for "io" %io to 3 {
    loop.for "ii" %ii to 16 vectorized {
      loop.block "copy" (%v : spatial 40 = %io * 16 + %ii) reads(%X) writes(%Y) {
        %x = loop.load %X[%v] : memref<40xf32>
        loop.store %x, %Y[%v] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

// mask: nothing is cut, the condition is at the statement.
// CHECK-LABEL: func.func @mask
// CHECK: loop.for "io" %io to 3 tail = mask {
// CHECK: loop.for "ii" %ii to 16 {
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: loop.load %X[%io * 16 + %ii] : memref<40xf32>
func.func @mask(%X: memref<40xf32>, %Y: memref<40xf32>) {
  loop.for "io" %io to 3 tail = mask {
    loop.for "ii" %ii to 16 {
      loop.block "copy" (%v : spatial 40 = %io * 16 + %ii) reads(%X) writes(%Y) {
        %x = loop.load %X[%v] : memref<40xf32>
        loop.store %x, %Y[%v] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

// A domain with a dynamic extent is never exceeded: no condition.
// CHECK-LABEL: func.func @dynamic
// CHECK: loop.for "i" %i to %n {
// CHECK-NEXT: loop.load %X[%i] : memref<?xf32>
func.func @dynamic(%X: memref<?xf32>, %Y: memref<?xf32>, %n: index) {
  loop.for "i" %i to %n {
    loop.block "copy" (%v : spatial ? = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<?xf32>
      loop.store %x, %Y[%v] : memref<?xf32>
    }
  }
  func.return
}

// -----

// A use of a variable as a value becomes its binding.
// CHECK-LABEL: func.func @computed
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %j overflow<nsw,nuw> : index
// CHECK: arith.index_cast %[[SUM]] : index to i32
func.func @computed(%Y: memref<8xi32>) {
  loop.for "i" %i to 2 {
    loop.for "j" %j to 4 {
      loop.block "iota" (%v : spatial 8 = %i * 4 + %j) writes(%Y) {
        %n = arith.index_cast %v : index to i32
        loop.store %n, %Y[%v] : memref<8xi32>
      }
    }
  }
  func.return
}

// -----

// A parallel loop with a partial last tile is not cut: each iteration branches, and the last one also runs in parallel.
// CHECK-LABEL: func.func @parallel_peel
// CHECK-NEXT: loop.for "io" %io to 3 parallel {
// CHECK-NEXT: %[[LIMIT:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[FULL:.*]] = arith.cmpi slt, %io, %[[LIMIT]] : index
// CHECK-NEXT: scf.if %[[FULL]] {
// CHECK-NEXT: %[[LAST:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[IO:.*]] = arith.minsi %io, %[[LAST]] : index
// CHECK-NEXT: loop.for "ii" %ii to 16 {
// CHECK-NEXT: loop.load %X[%[[IO]] * 16 + %ii]
// CHECK: } else {
// CHECK-NEXT: loop.for "ii_tail" %{{.*}} to 8 {
// CHECK-NEXT: loop.load %X[%{{.*}} + 32]
// CHECK-NOT: loop.for
func.func @parallel_peel(%X: memref<40xf32>, %Y: memref<40xf32>) {
  loop.for "io" %io to 3 parallel {
    loop.for "ii" %ii to 16 {
      loop.block "copy" (%v : spatial 40 = %io * 16 + %ii) reads(%X) writes(%Y) {
        %x = loop.load %X[%v] : memref<40xf32>
        loop.store %x, %Y[%v] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

// The local buffer of a partial tile of five lanes has rows of five elements; that of a full tile stays.
// CHECK-LABEL: func.func @narrow
// CHECK: %A = memref.alloc() : memref<8x16xf32, "local">
// CHECK: loop.store {{.*}}, %A[%k, %v] : memref<8x16xf32, "local">
// CHECK: [[TAIL:%.*]] = memref.alloc() : memref<8x5xf32, "local">
// CHECK: loop.for "v_tail" [[V:%.*]] to 5 vectorized {
// CHECK-NEXT: %{{.*}} = loop.load %X[{{.*}}, [[V]] + 32] : memref<8x37xf32>
// CHECK-NEXT: loop.store %{{.*}}, [[TAIL]][{{.*}}, [[V]]] : memref<8x5xf32, "local">
func.func @narrow(%X: memref<8x37xf32>, %Y: memref<8x37xf32>) {
  loop.for "o" %o to 3 {
    %A = memref.alloc() : memref<8x16xf32, "local">
    loop.for "k" %k to 8 {
      loop.for "v" %v to 16 vectorized {
        loop.block "copy" (%vk : spatial 8 = %k, %vv : spatial 37 = %o * 16 + %v) reads(%X) writes(%A) {
          %x = loop.load %X[%vk, %vv] : memref<8x37xf32>
          loop.store %x, %A[%vk, %vv - %o * 16] : memref<8x16xf32, "local">
        }
      }
    }
    loop.for "l" %l to 8 {
      loop.for "w" %w to 16 vectorized {
        loop.block "out" (%vl : spatial 8 = %l, %vw : spatial 37 = %o * 16 + %w) reads(%A) writes(%Y) {
          %a = loop.load %A[%vl, %vw - %o * 16] : memref<8x16xf32, "local">
          loop.store %a, %Y[%vl, %vw] : memref<8x37xf32>
        }
      }
    }
  }
  func.return
}
