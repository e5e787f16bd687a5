// RUN: xrelay-opt %s --split-input-file -p loop-split-conditions | filecheck %s

// A row of a padded convolution: the column before the image is tested separately, the others are inside; the row is
// tested once, before both.
// CHECK-LABEL: func.func @padded
// CHECK:         loop.for "y" %y to 3 {
// CHECK-NEXT:      [[ONE:%.*]] = arith.constant -1 : index
// CHECK-NEXT:      [[BEFORE:%.*]] = arith.addi %y, [[ONE]]
// CHECK-NEXT:      [[THREE:%.*]] = arith.constant 3 : index
// CHECK-NEXT:      [[ROW:%.*]] = arith.cmpi ult, [[BEFORE]], [[THREE]] : index
// CHECK-NEXT:      scf.if [[ROW]] {
// CHECK:             loop.for "x" %k to 3 {
// CHECK:               arith.constant true
// CHECK:               arith.cmpi ult
// CHECK:               loop.load %x[%y - 1, %k - 1]
// CHECK:               loop.for "w_part" {{.*}} to 2 unrolled {
// CHECK:                 arith.constant true
// CHECK:                 loop.load %x[%y - 1, %w + 1 + %k - 1] : memref<3x4xf32>
// CHECK:               arith.cmpi ult
// CHECK:               loop.load %x[%y - 1, %k + 2] : memref<3x4xf32>
// CHECK:           } else {
// CHECK:             loop.for "x_else"
// CHECK-COUNT-3:       arith.constant false
// CHECK-NOT:           arith.constant false
func.func @padded(%x: memref<3x4xf32>, %out: memref<4xf32>) {
  %c0 = arith.constant 0.0 : f32
  %minus = arith.constant -1 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  loop.for "y" %y to 3 {
    loop.for "x" %k to 3 {
      loop.for "w" %w to 4 unrolled {
        %r = arith.addi %y, %minus : index
        %row = arith.cmpi ult, %r, %three : index
        %s = arith.addi %w, %k : index
        %c = arith.addi %s, %minus : index
        %column = arith.cmpi ult, %c, %four : index
        %both = arith.andi %row, %column : i1
        %v = scf.if %both -> (f32) {
          %e = loop.load %x[%y - 1, %w + %k - 1] : memref<3x4xf32>
          scf.yield %e : f32
        } else {
          scf.yield %c0 : f32
        }
        %o = loop.load %out[%w] : memref<4xf32>
        %t = arith.addf %o, %v : f32
        loop.store %t, %out[%w] : memref<4xf32>
      }
    }
  }
  func.return
}

// -----

// The last of two tiles is partial, as the index of the fused loop determines: one test for inits and sums, after
// the buffer, though the inner loops test it in two forms. If the test fails, the second row has no ops.
// CHECK-LABEL: func.func @partial
// CHECK:         loop.for "t" %t to 26 parallel {
// CHECK-NEXT:      %acc = memref.alloc()
// CHECK-NOT:       loop.for
// CHECK:           [[FULL:%.*]] = arith.cmpi slt
// CHECK-NEXT:      scf.if [[FULL]] {
// CHECK-COUNT-2:     loop.store {{.*}}, %acc[1,
// CHECK:           } else {
// CHECK-NOT:         %acc[1,
// CHECK:         func.return
func.func @partial(%x: memref<3x4xf32>) {
  %c0 = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %thirteen = arith.constant 13 : index
  loop.for "t" %t to 26 parallel {
    %acc = memref.alloc() : memref<2x4xf32, "local">
    %q = arith.divui %t, %thirteen : index
    %base = arith.muli %q, %two : index
    loop.for "v" %v to 4 unrolled {
      loop.for "i" %i to 2 unrolled {
        %p = arith.addi %base, %i : index
        %in = arith.cmpi slt, %p, %three : index
        scf.if %in {
          loop.store %c0, %acc[%i, %v] : memref<2x4xf32, "local">
        }
      }
    }
    loop.for "k" %k to 8 {
      loop.for "w" %w to 4 unrolled {
        loop.for "j" %j to 2 unrolled {
          %p = arith.addi %base, %j : index
          %in = arith.cmpi sgt, %three, %p : index
          scf.if %in {
            %a = loop.load %x[%t floordiv 13 * 2 + %j, %w] : memref<3x4xf32>
            loop.store %a, %acc[%j, %w] : memref<2x4xf32, "local">
          }
        }
      }
    }
  }
  func.return
}

// -----

// A loop that allocates a buffer is split inside, so that there is one buffer.
// CHECK-LABEL: func.func @buffer
// CHECK:         loop.for "t" %t to 4 {
// CHECK-NEXT:      loop.for "o" %o to 5 {
// CHECK-NEXT:        %acc = memref.alloc()
// CHECK:             scf.if
// CHECK-NOT:         memref.alloc
// CHECK:           func.return
func.func @buffer() {
  %c0 = arith.constant 0.0 : f32
  %three = arith.constant 3 : index
  loop.for "t" %t to 4 {
    loop.for "o" %o to 5 {
      %acc = memref.alloc() : memref<2xf32, "local">
      loop.for "i" %i to 2 unrolled {
        %in = arith.cmpi slt, %t, %three : index
        scf.if %in {
          loop.store %c0, %acc[%i] : memref<2xf32, "local">
        }
      }
    }
  }
  func.return
}

// -----

// Values computed between two nests with tests are copied with them, and the copy of the second nest reads the copy.
// CHECK-LABEL: func.func @between
// CHECK:           scf.if
// CHECK:             [[THEN:%.*]] = scf.if
// CHECK:             loop.store [[THEN]], %out[%j]
// CHECK:           } else {
// CHECK:             [[ELSE:%.*]] = scf.if
// CHECK:             loop.store [[ELSE]], %out[0]
// CHECK:           }
func.func @between(%x: memref<4xf32>, %out: memref<2xf32>, %row: i1) {
  %c0 = arith.constant 0.0 : f32
  %three = arith.constant 3 : index
  loop.for "t" %t to 4 {
    loop.for "i" %i to 2 unrolled {
      %in = arith.cmpi slt, %t, %three : index
      scf.if %in {
        loop.store %c0, %out[%i] : memref<2xf32>
      }
    }
    %v = scf.if %row -> (f32) {
      %e = loop.load %x[%t] : memref<4xf32>
      scf.yield %e : f32
    } else {
      scf.yield %c0 : f32
    }
    loop.for "j" %j to 2 unrolled {
      %in = arith.cmpi slt, %t, %three : index
      scf.if %in {
        loop.store %v, %out[%j] : memref<2xf32>
      } else {
        loop.store %v, %out[0] : memref<2xf32>
      }
    }
  }
  func.return
}

// -----

// Unchanged: tests per lane, tests outside of unrolled loops, tests that would make ten parts, and tests that do not
// depend on indices.
// CHECK-LABEL: func.func @alone
// CHECK-NOT:     _part
// CHECK-NOT:     scf.if %{{.*}} {{{$}}
// CHECK-NOT:     arith.constant true
// CHECK:         func.return
func.func @alone(%x: memref<40xf32>, %n: i64) {
  %c0 = arith.constant 0.0 : f32
  %three = arith.constant 3 : index
  %half = arith.constant 20 : index
  %m = arith.constant 3 : i64
  loop.for "u" %u to 2 unrolled {
    loop.for "v" %v to 8 vectorized {
      %a = arith.cmpi slt, %v, %three : index
      %s = arith.select %a, %c0, %c0 : f32
      loop.store %s, %x[%v] : memref<40xf32>
    }
    %b = arith.cmpi slt, %n, %m : i64
    %s = arith.select %b, %c0, %c0 : f32
    loop.store %s, %x[%u] : memref<40xf32>
  }
  loop.for "i" %i to 4 {
    %a = arith.cmpi slt, %i, %three : index
    %s = arith.select %a, %c0, %c0 : f32
    loop.store %s, %x[%i] : memref<40xf32>
  }
  loop.for "o" %o to 4 {
    loop.for "w" %w to 10 unrolled {
      %ten = arith.constant 10 : index
      %t = arith.muli %o, %ten : index
      %p = arith.addi %t, %w : index
      %a = arith.cmpi slt, %p, %half : index
      %s = arith.select %a, %c0, %c0 : f32
      loop.store %s, %x[%p] : memref<40xf32>
    }
  }
  func.return
}

// -----

// A contracted loop has no branch left, so that it becomes one reduction.
// CHECK-LABEL: func.func @contracted
// CHECK:         loop.for "t" %t to 4 contracted {
// CHECK-NEXT:      loop.load
func.func @contracted(%x: memref<?x4xui8> {loop.extents = array<i64: 0>}, %w: memref<8x4xi8>, %n: index) {
  %acc = memref.alloc() : memref<2x8xi32, "local">
  loop.for "k" %k to 3 {
    loop.for "i" %i to 2 unrolled {
      loop.for "l" %l to 8 vectorized {
        loop.for "t" %t to 4 contracted {
          %in = arith.cmpi slt, %k, %n : index
          scf.if %in {
            %a = loop.load %acc[%i, %l] : memref<2x8xi32, "local">
            %u = loop.load %x[%i, %t] : memref<?x4xui8>
            %s = loop.load %w[%l, %t] : memref<8x4xi8>
            %1 = arith.extui %u : i8 to i32
            %2 = arith.extsi %s : i8 to i32
            %3 = arith.muli %1, %2 : i32
            %4 = arith.addi %a, %3 : i32
            loop.store %4, %acc[%i, %l] : memref<2x8xi32, "local">
          }
        }
      }
    }
  }
  func.return
}

// -----

// A row of dynamic length: in full tiles, only the first column may be before the image, and only the last after it.
// CHECK-LABEL: func.func private @dynamic
// CHECK:         loop.for "k" %k to 3 {
// CHECK:           arith.cmpi ult
// CHECK:           loop.load %x[%o * 4 + %k - 1]
// CHECK-NEXT:      scf.yield
// CHECK:           loop.for "w_part" %w to 2 unrolled {
// CHECK-NOT:         arith.cmpi
// CHECK:             loop.load %x[%o * 4 + %w + 1 + %k - 1]
// CHECK-NEXT:        loop.load %out[%o * 4 + %w + 1]
// CHECK:           arith.cmpi ult
// CHECK:           loop.load %x[%o * 4 + 3 + %k - 1]
// CHECK-NEXT:      scf.yield
func.func private @dynamic(%x: memref<?xf32> {loop.extents = array<i64: 0>},
                           %out: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel} {
  %four = arith.constant 4 : index
  %full = arith.divui %n, %four : index
  %c0 = arith.constant 0.0 : f32
  %minus = arith.constant -1 : index
  loop.for "o" %o to %full {
    loop.for "k" %k to 3 {
      loop.for "w" %w to 4 unrolled {
        %start = arith.muli %o, %four : index
        %at = arith.addi %start, %w : index
        %s = arith.addi %at, %k : index
        %c = arith.addi %s, %minus : index
        %column = arith.cmpi ult, %c, %n : index
        %v = scf.if %column -> (f32) {
          %e = loop.load %x[%o * 4 + %w + %k - 1] : memref<?xf32>
          scf.yield %e : f32
        } else {
          scf.yield %c0 : f32
        }
        %y = loop.load %out[%o * 4 + %w] : memref<?xf32>
        %t = arith.addf %y, %v : f32
        loop.store %t, %out[%o * 4 + %w] : memref<?xf32>
      }
    }
  }
  func.return
}
