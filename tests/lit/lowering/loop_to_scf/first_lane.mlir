// RUN: xrelay-opt %s -p convert-loop-to-scf --split-input-file | filecheck %s

// Row lengths that are no multiple of 32: the first lane of a partial tile reads %X, so all vectors may read it.
// CHECK-LABEL: func.func private @partial_tile
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             vector.create_mask
// CHECK-NOT:         scf.if
// CHECK:             memref.load %X
// CHECK:             vector.maskedload %Y
func.func private @partial_tile(%X: memref<?x8xf32> {loop.extents = array<i64: 1>}, %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %Z: memref<?xf32> {loop.extents = array<i64: 1>}, %i: index, %n: index) attributes {loop.kernel} {
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c16 = arith.constant 16 : index
  %full = arith.divui %n, %c32 : index
  %more = arith.addi %n, %c31 overflow<nsw,nuw> : index
  %tiles = arith.divui %more, %c32 : index
  %is_partial = arith.cmpi slt, %full, %tiles : index
  scf.if %is_partial {
    loop.for "v" %v to 2 {
      loop.for "l" %l to 16 vectorized {
        %a = arith.muli %full, %c32 : index
        %b = arith.muli %v, %c16 : index
        %c = arith.addi %a, %b : index
        %d = arith.addi %c, %l : index
        %is_inside = arith.cmpi slt, %d, %n : index
        scf.if %is_inside {
          %x = loop.load %X[%i, 0] : memref<?x8xf32>
          %y = loop.load %Y[%n floordiv 32 * 32 + %v * 16 + %l] : memref<?xf32>
          %z = arith.mulf %x, %y : f32
          loop.store %z, %Z[%n floordiv 32 * 32 + %v * 16 + %l] : memref<?xf32>
        }
      }
    }
  }
  func.return
}

// -----

// Without the condition, there may be no partial tile.
// CHECK-LABEL: func.func private @no_condition
// CHECK:         vector.extract
// CHECK:         scf.if
// CHECK:           memref.load %X
func.func private @no_condition(%X: memref<?x8xf32> {loop.extents = array<i64: 1>}, %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %i: index, %n: index) attributes {loop.kernel} {
  %c16 = arith.constant 16 : index
  loop.for "v" %v to 2 {
    loop.for "l" %l to 16 vectorized {
      %b = arith.muli %v, %c16 : index
      %d = arith.addi %b, %l : index
      %is_inside = arith.cmpi slt, %d, %n : index
      scf.if %is_inside {
        %x = loop.load %X[%i, 0] : memref<?x8xf32>
        loop.store %x, %Y[%v * 16 + %l] : memref<?xf32>
      }
    }
  }
  func.return
}

// -----

// The second vector reads another element, and a condition on the vector may not hold for the first one.
// CHECK-LABEL: func.func private @other_elements
// CHECK:         vector.extract
// CHECK:         scf.if
// CHECK:           memref.load %X
// CHECK:         vector.extract
// CHECK:         scf.if
// CHECK:           memref.load %X
func.func private @other_elements(%X: memref<?x8xf32> {loop.extents = array<i64: 1>}, %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %i: index, %n: index) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %is_any = arith.cmpi slt, %c0, %n : index
  scf.if %is_any {
    loop.for "v" %v to 2 {
      %second = arith.cmpi sge, %v, %c1 : index
      loop.for "l" %l to 16 vectorized {
        %b = arith.muli %v, %c16 : index
        %d = arith.addi %b, %l : index
        %is_inside = arith.cmpi slt, %d, %n : index
        scf.if %is_inside {
          %j = arith.minsi %v, %i : index
          %x = loop.load %X[%j, 0] : memref<?x8xf32>
          loop.store %x, %Y[%v * 16 + %l] : memref<?xf32>
        }
      }
      scf.if %second {
        loop.for "m" %m to 16 vectorized {
          %b = arith.muli %v, %c16 : index
          %d = arith.addi %b, %m : index
          %is_inside = arith.cmpi slt, %d, %n : index
          scf.if %is_inside {
            %x = loop.load %X[%i, 0] : memref<?x8xf32>
            loop.store %x, %Y[%v * 16 + %m] : memref<?xf32>
          }
        }
      }
    }
  }
  func.return
}

// -----

// The first vector has no iterations of the inner loop.
// CHECK-LABEL: func.func private @inner_extent
// CHECK:         vector.extract
// CHECK:         scf.if
// CHECK:           memref.load %X
func.func private @inner_extent(%X: memref<?x8xf32> {loop.extents = array<i64: 1>}, %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %i: index, %n: index) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %is_any = arith.cmpi sgt, %n, %c0 : index
  scf.if %is_any {
    loop.for "v" %v to 2 {
      loop.for "k" %k to %v {
        loop.for "l" %l to 16 vectorized {
          %b = arith.muli %v, %c16 : index
          %d = arith.addi %b, %l : index
          %is_inside = arith.cmpi slt, %d, %n : index
          scf.if %is_inside {
            %x = loop.load %X[%i + %k, 0] : memref<?x8xf32>
            loop.store %x, %Y[%v * 16 + %l] : memref<?xf32>
          }
        }
      }
    }
  }
  func.return
}

// -----

// Any comparison around the loops counts.
// CHECK-LABEL: func.func private @any_row
// CHECK:         vector.create_mask
// CHECK-NOT:     scf.if
// CHECK:         memref.load %X
func.func private @any_row(%X: memref<?x8xf32> {loop.extents = array<i64: 1>}, %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %i: index, %n: index) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %is_any = arith.cmpi sgt, %n, %c0 : index
  scf.if %is_any {
    loop.for "v" %v to 2 {
      loop.for "l" %l to 16 vectorized {
        %b = arith.muli %v, %c16 : index
        %d = arith.addi %b, %l : index
        %is_inside = arith.cmpi slt, %d, %n : index
        scf.if %is_inside {
          %x = loop.load %X[%i, 0] : memref<?x8xf32>
          loop.store %x, %Y[%v * 16 + %l] : memref<?xf32>
        }
      }
    }
  }
  func.return
}

// -----

// Rows of dynamic length keep the branch.
// CHECK-LABEL: func.func private @dynamic_rows
// CHECK:         vector.extract
// CHECK:         scf.if
// CHECK:           memref.load %X
func.func private @dynamic_rows(%X: memref<?x?xf32> {loop.extents = array<i64: 1, 1>}, %Y: memref<?xf32> {loop.extents = array<i64: 1>}, %i: index, %n: index) attributes {loop.kernel} {
  %c0 = arith.constant 0 : index
  %is_any = arith.cmpi sgt, %n, %c0 : index
  scf.if %is_any {
    loop.for "l" %l to 16 vectorized {
      %is_inside = arith.cmpi slt, %l, %n : index
      scf.if %is_inside {
        %x = loop.load %X[%i, 0] : memref<?x?xf32>
        loop.store %x, %Y[%l] : memref<?xf32>
      }
    }
  }
  func.return
}
