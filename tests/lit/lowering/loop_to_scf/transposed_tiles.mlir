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
