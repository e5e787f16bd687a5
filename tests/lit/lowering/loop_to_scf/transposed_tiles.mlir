// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s

// Rows are loaded as vectors, and become columns by shuffles.
// CHECK-LABEL: @square
// CHECK: %[[A:.*]] = vector.load %X[%{{.*}}, %{{.*}}] : memref<4x4xf32>, vector<4xf32>
// CHECK: %[[B:.*]] = vector.load
// CHECK: %[[C:.*]] = vector.load
// CHECK: %[[D:.*]] = vector.load
// CHECK: %[[E:.*]] = vector.shuffle %[[A]], %[[C]] [0, 4, 1, 5]
// CHECK: %[[F:.*]] = vector.shuffle %[[A]], %[[C]] [2, 6, 3, 7]
// CHECK: %[[G:.*]] = vector.shuffle %[[B]], %[[D]] [0, 4, 1, 5]
// CHECK: %[[H:.*]] = vector.shuffle %[[B]], %[[D]] [2, 6, 3, 7]
// CHECK: %[[W:.*]] = vector.shuffle %[[E]], %[[G]] [0, 4, 1, 5]
// CHECK: vector.store %[[W]], %Y
// CHECK-NOT: scf.for
// CHECK: return
func.func private @square(%X: memref<4x4xf32>, %Y: memref<4x4xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 4 unrolled {
    loop.for "j" %j to 4 vectorized {
      %x = loop.load %X[%j, %i] : memref<4x4xf32>
      loop.store %x, %Y[%i, %j] : memref<4x4xf32>
    }
  }
  func.return
}

// Lanes read neighbouring elements already, or neighbouring iterations do not.
// CHECK-LABEL: @others
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func private @others(%X: memref<4x4xf32>, %Z: memref<4x4x2xf32>, %Y: memref<4x4xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 4 unrolled {
    loop.for "j" %j to 4 vectorized {
      %x = loop.load %X[%i, %j] : memref<4x4xf32>
      %z = loop.load %Z[%j, %i, 0] : memref<4x4x2xf32>
      %s = arith.addf %x, %z : f32
      loop.store %s, %Y[%i, %j] : memref<4x4xf32>
    }
  }
  func.return
}

// Lanes beyond a limit are masked; their rows are replaced by that of the last active lane.
// CHECK-LABEL: @partial
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %n : index
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: %[[LAST:.*]] = arith.addi %n, %{{.*}} : index
// CHECK-NEXT: %[[ONE:.*]] = arith.minsi %{{.*}}, %[[LAST]] : index
// CHECK-NEXT: %[[TWO:.*]] = arith.minsi
// CHECK-NEXT: %[[THREE:.*]] = arith.minsi
// CHECK-NEXT: vector.load %X[%{{.*}}, %{{.*}}] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT: vector.load %X[%[[ONE]], %{{.*}}]
// CHECK-NEXT: vector.load %X[%[[TWO]], %{{.*}}]
// CHECK-NEXT: vector.load %X[%[[THREE]], %{{.*}}]
// CHECK: %[[MASK:.*]] = vector.create_mask %n : vector<4xi1>
// CHECK: vector.maskedstore %Y[%{{.*}}, %{{.*}}], %[[MASK]]
// CHECK-NOT: scf.for
// CHECK: return
func.func private @partial(%n: index, %X: memref<4x4xf32>, %Y: memref<4x4xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 4 unrolled {
    loop.for "j" %j to 4 vectorized {
      %in = arith.cmpi slt, %j, %n : index
      scf.if %in {
        %x = loop.load %X[%j, %i] : memref<4x4xf32>
        loop.store %x, %Y[%i, %j] : memref<4x4xf32>
      }
    }
  }
  func.return
}

// The active lanes depend on the row, or there is a second condition.
// CHECK-LABEL: @other_conditions
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func private @other_conditions(%n: index, %X: memref<4x4xf32>, %Y: memref<4x4xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 4 unrolled {
    loop.for "j" %j to 4 vectorized {
      %in = arith.cmpi slt, %j, %i : index
      scf.if %in {
        %x = loop.load %X[%j, %i] : memref<4x4xf32>
        loop.store %x, %Y[%i, %j] : memref<4x4xf32>
      }
    }
  }
  loop.for "k" %k to 4 unrolled {
    loop.for "l" %l to 4 vectorized {
      %in = arith.cmpi slt, %l, %n : index
      %same = arith.cmpi eq, %l, %n : index
      %both = arith.andi %in, %same : i1
      scf.if %both {
        %x = loop.load %X[%l, %k] : memref<4x4xf32>
        loop.store %x, %Y[%k, %l] : memref<4x4xf32>
      }
    }
  }
  func.return
}

// The limit is a product that is computed in the square.
// CHECK-LABEL: @limit_in_square
// CHECK: arith.muli %a, %b
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func private @limit_in_square(%a: index, %b: index, %X: memref<4x4xf32>, %Y: memref<4x4xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 4 unrolled {
    loop.for "j" %j to 4 vectorized {
      %n = arith.muli %a, %b : index
      %in = arith.cmpi slt, %j, %n : index
      scf.if %in {
        %x = loop.load %X[%j, %i] : memref<4x4xf32>
        loop.store %x, %Y[%i, %j] : memref<4x4xf32>
      }
    }
  }
  func.return
}
