// RUN: xrelay-opt %s --split-input-file -p convert-loop-to-scf | filecheck %s

// Kinds: unrolled loops are marked, and loops around them marked to stay rolled; others are plain.
// CHECK-LABEL: func.func @kinds
// CHECK: scf.parallel
// CHECK: scf.for %k = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: scf.for %r
// CHECK: } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
// CHECK: } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
// CHECK: scf.for %s
// CHECK: } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
// CHECK: scf.reduce
func.func @kinds(%X: memref<8x4x6xf32>) {
  loop.for "i" %i to 8 parallel {
    loop.for "k" %k to 4 {
      loop.for "r" %r to 6 unrolled {
        %x = loop.load %X[%i, %k, %r] : memref<8x4x6xf32>
        loop.store %x, %X[%i, %k, %r] : memref<8x4x6xf32>
      }
    }
    loop.for "s" %s to 4 unroll = disable {
      %x = loop.load %X[%i, %s, 0] : memref<8x4x6xf32>
      loop.store %x, %X[%i, %s, 1] : memref<8x4x6xf32>
    }
  }
  func.return
}

// -----

// A perfect nest of parallel loops is one parallel loop; a parallel loop deeper inside is serial.
// CHECK-LABEL: func.func @nested_parallel
// CHECK: %[[ALL:.*]] = arith.constant 40 : index
// CHECK: "scf.parallel"(%{{.*}}, %[[ALL]], %{{.*}})
// CHECK: ^{{.*}}(%tile: index):
// CHECK: %i = arith.divui %tile
// CHECK: scf.for %k
// CHECK: {loop.note = "parallel inside another parallel or vectorised loop: runs serially"}
// CHECK-NOT: scf.parallel
func.func @nested_parallel(%X: memref<8x5x4xf32>) {
  loop.for "i" %i to 8 parallel {
    loop.for "j" %j to 5 parallel {
      loop.for "k" %k to 4 parallel {
        %x = loop.load %X[%i, %j, %k] : memref<8x5x4xf32>
        loop.store %x, %X[%i, %j, %k * -1 + 3] : memref<8x5x4xf32>
      }
      loop.for "l" %l to 4 {
        %x = loop.load %X[%i, %j, %l] : memref<8x5x4xf32>
        loop.store %x, %X[%i, %j, %l] : memref<8x5x4xf32>
      }
    }
  }
  func.return
}

// -----

// Lanes: contiguous, uniform, far apart, at computed positions.
// CHECK-LABEL: func.func @lanes
// CHECK: %a = vector.load %X[%{{.*}}] : memref<80xf32>, vector<16xf32>
// CHECK: %b = memref.load %X[%{{.*}}] : memref<80xf32>
// CHECK: scf.for %lane
// CHECK: memref.store %{{.*}}, %[[SIDE:.*]][%lane] : memref<16xf32>
// CHECK: %c = vector.load %[[SIDE]][%{{.*}}] : memref<16xf32>, vector<16xf32>
// CHECK: arith.index_cast %n : vector<16xi32> to vector<16xindex>
// CHECK: vector.extract %{{.*}}[%{{.*}}] : index from vector<16xindex>
// CHECK: vector.broadcast %b : f32 to vector<16xf32>
// CHECK: %[[M:.*]] = arith.mulf %a, %{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf %c, %[[M]] fastmath<contract> : vector<16xf32>
// CHECK: vector.store
func.func @lanes(%X: memref<80xf32>, %N: memref<64xi32>, %Y: memref<80xf32>) {
  loop.for "o" %o to 4 {
    loop.for "i" %i to 16 vectorized {
      %a = loop.load %X[%o * 16 + %i] : memref<80xf32>
      %b = loop.load %X[%o] : memref<80xf32>
      %c = loop.load %X[%i * 5] : memref<80xf32>
      %n = loop.load %N[%i] : memref<64xi32>
      %p = arith.index_cast %n : i32 to index
      %d = loop.load %X[%p] : memref<80xf32>
      %m = arith.mulf %a, %b fastmath<contract> : f32
      %s = arith.addf %m, %c fastmath<contract> : f32
      %t = arith.addf %s, %d : f32
      loop.store %t, %Y[%o * 16 + %i] : memref<80xf32>
    }
  }
  func.return
}

// -----

// Without `contract` the product is rounded.
// CHECK-LABEL: func.func @no_contract
// CHECK: arith.mulf %x, %x : vector<4xf32>
// CHECK: arith.addf %{{.*}}, %x : vector<4xf32>
func.func @no_contract(%X: memref<4xf32>, %Y: memref<4xf32>) {
  loop.for "i" %i to 4 vectorized {
    %x = loop.load %X[%i] : memref<4xf32>
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %p, %x : f32
    loop.store %s, %Y[%i] : memref<4xf32>
  }
  func.return
}

// -----

// A condition on the lane is a mask: masked lanes are not read.
// CHECK-LABEL: func.func @mask
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16xi1>
// CHECK: vector.maskedload %X[%{{.*}}], %[[MASK]], %{{.*}} : memref<40xf32>
// CHECK: %[[B:.*]] = memref.load %b[%{{.*}}] : memref<1xf32>
// CHECK: vector.maskedstore %Y[%{{.*}}], %[[MASK]], %{{.*}} : memref<40xf32>
func.func @mask(%X: memref<40xf32>, %b: memref<1xf32>, %Y: memref<40xf32>) {
  %limit = arith.constant 40 : index
  %width = arith.constant 16 : index
  loop.for "o" %o to 3 {
    loop.for "i" %i to 16 vectorized {
      %first = arith.muli %o, %width : index
      %v = arith.addi %first, %i : index
      %in = arith.cmpi slt, %v, %limit : index
      scf.if %in {
        %x = loop.load %X[%o * 16 + %i] : memref<40xf32>
        %c = loop.load %b[0] : memref<1xf32>
        %s = arith.addf %x, %c : f32
        loop.store %s, %Y[%o * 16 + %i] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

// A buffer on the stack has the elements of masked lanes, too: they keep their values, and accumulators are registers.
// CHECK-LABEL: func.func @mask_of_local
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16xi1>
// CHECK: %[[X:.*]] = vector.maskedload %X
// CHECK: %[[T:.*]] = vector.load %t
// CHECK: %[[ACC:.*]] = arith.select %[[MASK]], %[[T]], %{{.*}}
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK: %[[OLD:.*]] = vector.load %t
// CHECK: %[[NEW:.*]] = arith.select %[[MASK]], %[[SUM]], %[[OLD]]
// CHECK: vector.store %[[NEW]], %t
// CHECK-NOT: vector.maskedstore
func.func @mask_of_local(%X: memref<4x40xf32>, %Y: memref<40xf32>, %n: index) {
  %t = memref.alloc() : memref<16xf32, "local">
  %zero = arith.constant 0.0 : f32
  loop.for "j" %j to 16 {
    loop.store %zero, %t[%j] : memref<16xf32, "local">
  }
  loop.for "k" %k to 4 {
    loop.for "i" %i to 16 vectorized {
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %x = loop.load %X[%k, %i] : memref<4x40xf32>
        %acc = loop.load %t[%i] : memref<16xf32, "local">
        %s = arith.addf %acc, %x : f32
        loop.store %s, %t[%i] : memref<16xf32, "local">
      }
    }
  }
  loop.for "j2" %j to 16 {
    %v = loop.load %t[%j] : memref<16xf32, "local">
    loop.store %v, %Y[%j] : memref<40xf32>
  }
  func.return
}

// -----

// If the lanes may all be off, an element that all lanes read is read only if it is certainly in its buffer.
// CHECK-LABEL: func.func @maybe_empty
// CHECK: %[[MASK:.*]] = vector.create_mask %n : vector<16xi1>
// CHECK-NEXT: %b = memref.load %B[%k] : memref<3xf32>
// CHECK-NEXT: %[[ANY:.*]] = vector.extract %[[MASK]][0]
// CHECK-NEXT: %c = scf.if %[[ANY]] -> (f32) {
// CHECK-NEXT: memref.load %C[%n] : memref<3xf32>
func.func @maybe_empty(%n: index, %B: memref<3xf32>, %C: memref<3xf32>, %Y: memref<40xf32>) {
  loop.for "k" %k to 3 {
    loop.for "i" %i to 16 vectorized {
      %in = arith.cmpi slt, %i, %n : index
      scf.if %in {
        %b = loop.load %B[%k] : memref<3xf32>
        %c = loop.load %C[%n] : memref<3xf32>
        %s = arith.addf %b, %c : f32
        loop.store %s, %Y[%i] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

// Elements of a row at a small stride are selected from vectors that read nothing behind the last lane's element.
// CHECK-LABEL: func.func @strided_row
// CHECK: %[[A:.*]] = vector.load %X[%{{.*}}, %{{.*}}] : memref<2x15xf32>, vector<8xf32>
// CHECK: %[[B:.*]] = vector.load %X[%{{.*}}, %{{.*}}] : memref<2x15xf32>, vector<8xf32>
// CHECK: vector.shuffle %[[A]], %[[B]] [0, 2, 4, 6, 9, 11, 13, 15]
// CHECK: %[[MASK:.*]] = vector.create_mask %n : vector<4xi1>
// CHECK: %[[FIRST:.*]] = vector.shuffle %[[MASK]], %{{.*}} [0, 4, 4, 1]
// CHECK: %[[C:.*]] = vector.maskedload %X[%{{.*}}, %{{.*}}], %[[FIRST]], %{{.*}}
// CHECK: %[[SECOND:.*]] = vector.shuffle %[[MASK]], %{{.*}} [4, 4, 2, 4]
// CHECK: %[[D:.*]] = vector.maskedload %X[%{{.*}}, %{{.*}}], %[[SECOND]], %{{.*}}
// CHECK: %[[THIRD:.*]] = vector.shuffle %[[MASK]], %{{.*}} [2, 4, 4, 3]
// CHECK: %[[E:.*]] = vector.maskedload %X[%{{.*}}, %{{.*}}], %[[THIRD]], %{{.*}}
// CHECK: %[[CD:.*]] = vector.shuffle %[[C]], %[[D]] [0, 3, 6, 3]
// CHECK: vector.shuffle %[[CD]], %[[E]] [0, 1, 2, 7]
func.func @strided_row(%n: index, %X: memref<2x15xf32>, %Y: memref<8xf32>, %Z: memref<4xf32>) {
  loop.for "i" %i to 8 vectorized {
    %x = loop.load %X[1, %i * 2] : memref<2x15xf32>
    loop.store %x, %Y[%i] : memref<8xf32>
  }
  loop.for "j" %j to 4 vectorized {
    %in = arith.cmpi slt, %j, %n : index
    scf.if %in {
      %x = loop.load %X[0, %j * 3 + 5] : memref<2x15xf32>
      loop.store %x, %Z[%j] : memref<4xf32>
    }
  }
  func.return
}

// -----

// Elements of other rows are loaded lane by lane. In place of lanes that are off, the first lane is loaded, without a branch.
// CHECK-LABEL: func.func @strided_lanes
// CHECK: %[[MASK:.*]] = vector.create_mask %n : vector<8xi1>
// CHECK: %[[ANY:.*]] = vector.extract %[[MASK]][0]
// CHECK: scf.if %[[ANY]] -> (vector<8xf32>) {
// CHECK: scf.for %[[LANE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT: %[[ON:.*]] = vector.extract %[[MASK]][%[[LANE]]]
// CHECK-NEXT: %[[FROM:.*]] = arith.select %[[ON]], %[[LANE]], %{{.*}} : index
// CHECK-NOT: scf.if
// CHECK: memref.load %X[%[[FROM]], %{{.*}}] : memref<8x5xf32>
// CHECK: arith.select %[[MASK]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: vector.maskedstore
func.func @strided_lanes(%n: index, %X: memref<8x5xf32>, %Y: memref<8xf32>) {
  loop.for "i" %i to 8 vectorized {
    %in = arith.cmpi slt, %i, %n : index
    scf.if %in {
      %x = loop.load %X[%i, 2] : memref<8x5xf32>
      loop.store %x, %Y[%i] : memref<8xf32>
    }
  }
  func.return
}

// -----

// Conditions that the extents of loops decide are folded; a condition that is uniform over lanes branches.
// CHECK-LABEL: func.func @decided
// CHECK: arith.cmpi eq, %o, %{{.*}} : index
// CHECK-NEXT: %v = scf.if %{{.*}} -> (vector<16xf32>) {
// CHECK: vector.load
// CHECK: } else {
// CHECK-NOT: arith.cmpi
// CHECK: vector.store %v
func.func @decided(%X: memref<64xf32>, %Y: memref<64xf32>) {
  %zero = arith.constant 0 : index
  %limit = arith.constant 64 : index
  loop.for "o" %o to 4 {
    loop.for "i" %i to 16 vectorized {
      %is_first = arith.cmpi eq, %o, %zero : index
      %v = scf.if %is_first -> (f32) {
        %x = loop.load %X[%i] : memref<64xf32>
        scf.yield %x : f32
      } else {
        %c = arith.constant 1.0 : f32
        scf.yield %c : f32
      }
      %always = arith.cmpi slt, %i, %limit : index
      scf.if %always {
        loop.store %v, %Y[%o * 16 + %i] : memref<64xf32>
      }
    }
  }
  func.return
}

// -----

// Local buffers: vectors along the innermost dimension, one element per lane, or scalars.
// CHECK-LABEL: func.func @local
// CHECK-DAG: %acc = memref.alloca() {alignment = 64 : i64} : memref<6x4xvector<16xf32>>
// CHECK-DAG: %one = memref.alloca() {alignment = 64 : i64} : memref<vector<16xf32>>
// CHECK-DAG: %each = memref.alloca() {alignment = 64 : i64} : memref<6xvector<16xf32>>
// CHECK-DAG: %plain = memref.alloca() {alignment = 64 : i64} : memref<6xf32>
// CHECK: memref.load %acc[%r, %v] : memref<6x4xvector<16xf32>>
// CHECK: memref.store %{{.*}}, %one[] : memref<vector<16xf32>>
// CHECK: memref.store %{{.*}}, %each[%r] : memref<6xvector<16xf32>>
func.func @local() {
  %acc = memref.alloc() : memref<6x64xf32, "local">
  %one = memref.alloc() : memref<16xf32, "local">
  %each = memref.alloc() : memref<6xf32, "local">
  %plain = memref.alloc() : memref<6xf32, "local">
  loop.for "r" %r to 6 {
    loop.for "v" %v to 4 {
      loop.for "l" %l to 16 vectorized {
        %x = loop.load %acc[%r, %v * 16 + %l] : memref<6x64xf32, "local">
        loop.store %x, %one[%l] : memref<16xf32, "local">
        loop.store %x, %each[%r] : memref<6xf32, "local">
      }
    }
    %y = loop.load %plain[%r] : memref<6xf32, "local">
    loop.store %y, %plain[%r * -1 + 5] : memref<6xf32, "local">
  }
  func.return
}

// -----

// A local buffer of a parallel loop is inside that loop: each thread has its own.
// CHECK-LABEL: func.func @threads
// CHECK-NOT: memref.alloca
// CHECK: scf.parallel
// CHECK: %t = memref.alloca
func.func @threads(%X: memref<8x4xf32>) {
  %t = memref.alloc() : memref<4xf32, "local">
  loop.for "i" %i to 8 parallel {
    loop.for "j" %j to 4 {
      %x = loop.load %X[%i, %j] : memref<8x4xf32>
      loop.store %x, %t[%j] : memref<4xf32, "local">
    }
  }
  func.return
}

// -----

// Weights are arguments before the arena; equal weights share one.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%x: memref<4xf32>, %w: memref<4xf32>, %v: memref<4xf32>, %arena: memref<64xi8> {loop.arena})
// CHECK: func.call @k(%w, %v, %w)
func.func private @k(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  func.return
}
func.func @main(%x: memref<4xf32>, %arena: memref<64xi8> {loop.arena}) {
  %w = loop.weight "w" : memref<4xf32>
  %v = loop.weight "v" : memref<4xf32>
  %u = loop.weight "w" : memref<4xf32>
  func.call @k(%w, %v, %u) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// -----

// Unplanned buffers are freed; dynamic extents are values.
// CHECK-LABEL: func.func @dynamic
// CHECK: %t = memref.alloc(%n) : memref<?xf32>
// CHECK: scf.for %i = %{{.*}} to %n step
// CHECK: memref.dealloc %t : memref<?xf32>
func.func @dynamic(%n: index, %X: memref<?xf32>) {
  %t = memref.alloc(%n) : memref<?xf32>
  loop.for "i" %i to %n vectorized {
    %x = loop.load %X[%i] : memref<?xf32>
    loop.store %x, %t[%i] : memref<?xf32>
  }
  func.return
}

// -----

// A local buffer that is too large for the stack is allocated on the heap.
// CHECK-LABEL: @large_local_buffer
// CHECK: %s = memref.alloca() {{.*}} : memref<4xf32>
// CHECK: %t = memref.alloc() : memref<10000000xf32>
// CHECK: memref.dealloc %t : memref<10000000xf32>
func.func private @large_local_buffer(%x: memref<10000000xf32>) attributes {loop.kernel} {
  %t = memref.alloc() : memref<10000000xf32, "local">
  %s = memref.alloc() : memref<4xf32, "local">
  loop.for "i" %i to 10000000 {
    %0 = loop.load %x[%i] : memref<10000000xf32>
    loop.store %0, %t[%i] : memref<10000000xf32, "local">
    loop.store %0, %s[%i mod 4] : memref<4xf32, "local">
  }
  func.return
}

// -----

// A remainder that rounds down has a select for negative indices; no index of this loop is negative.
// CHECK-LABEL: func.func @decided_select
// CHECK:       scf.for %i
// CHECK-NEXT:    arith.divui %i
// CHECK-NEXT:    arith.muli
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    memref.store
func.func @decided_select(%X: memref<9xindex>) {
  loop.for "i" %i to 9 {
    %zero = arith.constant 0 : index
    %last = arith.constant -1 : index
    %four = arith.constant 4 : index
    %negative = arith.cmpi slt, %i, %zero : index
    %mirrored = arith.subi %last, %i : index
    %a = arith.select %negative, %mirrored, %i : index
    %b = arith.divui %a, %four : index
    %below = arith.subi %last, %b : index
    %quotient = arith.select %negative, %below, %b : index
    %c = arith.muli %quotient, %four : index
    %rest = arith.subi %i, %c : index
    loop.store %rest, %X[%i] : memref<9xindex>
  }
  func.return
}
