// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s

// The four products of each lane are one vector reduction; the index of the contracted loop is gone.
// CHECK-LABEL: func.func private @dot
// CHECK:      %[[ACC:.*]] = vector.load %Y[%{{.*}}] : memref<16xi32>, vector<16xi32>
// CHECK-NEXT: %[[B:.*]] = vector.load %X[%{{.*}}] : memref<4xi8>, vector<4xi8>
// CHECK-NEXT: %[[X:.*]] = vector.broadcast %[[B]] : vector<4xi8> to vector<16x4xi8>
// CHECK-NEXT: %[[V:.*]] = vector.load %W[%{{.*}}, %{{.*}}] : memref<16x4xi8>, vector<64xi8>
// CHECK-NEXT: %[[W:.*]] = vector.shape_cast %[[V]] : vector<64xi8> to vector<16x4xi8>
// CHECK-NEXT: %[[XE:.*]] = arith.extui %[[X]] : vector<16x4xi8> to vector<16x4xi32>
// CHECK-NEXT: %[[WE:.*]] = arith.extsi %[[W]] : vector<16x4xi8> to vector<16x4xi32>
// CHECK-NEXT: %[[P:.*]] = arith.muli %[[XE]], %[[WE]] : vector<16x4xi32>
// CHECK-NEXT: %[[S:.*]] = vector.multi_reduction <add>, %[[P]], %[[ACC]] [1] : vector<16x4xi32> to vector<16xi32>
// CHECK-NEXT: vector.store %[[S]], %Y[%{{.*}}] : memref<16xi32>, vector<16xi32>
func.func private @dot(%X: memref<4xui8>, %W: memref<16x4xi8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o" %o to 16 vectorized {
    loop.for "k" %k to 4 contracted {
      %acc = loop.load %Y[%o] : memref<16xi32>
      %x = loop.load %X[%k] : memref<4xui8>
      %w = loop.load %W[%o, %k] : memref<16x4xi8>
      %xe = arith.extui %x : i8 to i32
      %we = arith.extsi %w : i8 to i32
      %p = arith.muli %xe, %we : i32
      %s = arith.addi %acc, %p : i32
      loop.store %s, %Y[%o] : memref<16xi32>
    }
  }
  func.return
}

// The unsigned bytes are those of the lanes.
// CHECK-LABEL: func.func private @unsigned_lanes
// CHECK:      %[[X:.*]] = vector.broadcast %{{.*}} : vector<4xi8> to vector<16x4xi8>
// CHECK:      %[[W:.*]] = vector.shape_cast %{{.*}} : vector<64xi8> to vector<16x4xi8>
// CHECK-NEXT: %[[WE:.*]] = arith.extui %[[W]] : vector<16x4xi8> to vector<16x4xi32>
// CHECK-NEXT: %[[XE:.*]] = arith.extsi %[[X]] : vector<16x4xi8> to vector<16x4xi32>
// CHECK-NEXT: %[[P:.*]] = arith.muli %[[WE]], %[[XE]] : vector<16x4xi32>
// CHECK-NEXT: vector.multi_reduction <add>, %[[P]], %{{.*}} [1] : vector<16x4xi32> to vector<16xi32>
func.func private @unsigned_lanes(%X: memref<4xi8>, %W: memref<16x4xui8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o" %o to 16 vectorized {
    loop.for "k" %k to 4 contracted {
      %acc = loop.load %Y[%o] : memref<16xi32>
      %x = loop.load %X[%k] : memref<4xi8>
      %w = loop.load %W[%o, %k] : memref<16x4xui8>
      %xe = arith.extsi %x : i8 to i32
      %we = arith.extui %w : i8 to i32
      %p = arith.muli %xe, %we : i32
      %s = arith.addi %acc, %p : i32
      loop.store %s, %Y[%o] : memref<16xi32>
    }
  }
  func.return
}

// Bytes in another order, masked lanes, and other arithmetic: the loop runs serially in its lanes.
// CHECK-LABEL: func.func private @turned
// CHECK-NOT:  multi_reduction
// CHECK:      scf.for %k
// CHECK-LABEL: func.func private @other
// CHECK-NOT:  multi_reduction
// CHECK:      scf.for %k
// CHECK-LABEL: func.func private @outside_of_lanes
// CHECK-NOT:  multi_reduction
// CHECK:      scf.for %k
func.func private @turned(%X: memref<4xui8>, %W: memref<4x16xi8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o" %o to 16 vectorized {
    loop.for "k" %k to 4 contracted {
      %acc = loop.load %Y[%o] : memref<16xi32>
      %x = loop.load %X[%k] : memref<4xui8>
      %w = loop.load %W[%k, %o] : memref<4x16xi8>
      %xe = arith.extui %x : i8 to i32
      %we = arith.extsi %w : i8 to i32
      %p = arith.muli %xe, %we : i32
      %s = arith.addi %acc, %p : i32
      loop.store %s, %Y[%o] : memref<16xi32>
    }
  }
  func.return
}

func.func private @other(%X: memref<4xui8>, %W: memref<16x4xi8>, %Y: memref<16xi32>) attributes {loop.kernel} {
  loop.for "o" %o to 16 vectorized {
    loop.for "k" %k to 4 contracted {
      %acc = loop.load %Y[%o] : memref<16xi32>
      %x = loop.load %X[%k] : memref<4xui8>
      %w = loop.load %W[%o, %k] : memref<16x4xi8>
      %xe = arith.extui %x : i8 to i32
      %we = arith.extui %w : i8 to i32
      %p = arith.muli %xe, %we : i32
      %s = arith.addi %acc, %p : i32
      loop.store %s, %Y[%o] : memref<16xi32>
    }
  }
  func.return
}

func.func private @outside_of_lanes(%X: memref<4xui8>, %W: memref<4xi8>, %Y: memref<1xi32>) attributes {loop.kernel} {
  loop.for "k" %k to 4 contracted {
    %acc = loop.load %Y[0] : memref<1xi32>
    %x = loop.load %X[%k] : memref<4xui8>
    %w = loop.load %W[%k] : memref<4xi8>
    %xe = arith.extui %x : i8 to i32
    %we = arith.extsi %w : i8 to i32
    %p = arith.muli %xe, %we : i32
    %s = arith.addi %acc, %p : i32
    loop.store %s, %Y[0] : memref<1xi32>
  }
  func.return
}

// Two bf16 are the halves of a word: both products are added as products of f32.
// CHECK-LABEL: func.func private @pairs
// CHECK: %[[ACC:.*]] = vector.load %Y[
// CHECK: vector.load %X[%{{.*}}] : memref<2xbf16>, vector<2xbf16>
// CHECK: vector.bitcast %{{.*}} : vector<2xbf16> to vector<1xi32>
// CHECK: %[[W:.*]] = vector.bitcast %{{.*}} : vector<32xbf16> to vector<16xi32>
// CHECK: %[[FIRST:.*]] = arith.shli %[[W]], %{{.*}} : vector<16xi32>
// CHECK: %[[SECOND:.*]] = arith.andi %[[W]], %{{.*}} : vector<16xi32>
// CHECK: %[[W0:.*]] = vector.bitcast %[[FIRST]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[W1:.*]] = vector.bitcast %[[SECOND]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[P0:.*]] = arith.mulf %{{.*}}, %[[W0]] fastmath<contract> : vector<16xf32>
// CHECK: %[[S:.*]] = arith.addf %[[ACC]], %[[P0]] fastmath<contract> : vector<16xf32>
// CHECK: %[[P1:.*]] = arith.mulf %{{.*}}, %[[W1]] fastmath<contract> : vector<16xf32>
// CHECK: arith.addf %[[S]], %[[P1]] fastmath<contract> : vector<16xf32>
func.func private @pairs(%X: memref<2xbf16>, %W: memref<16x2xbf16>, %Y: memref<16xf32>) attributes {loop.kernel} {
  loop.for "o" %o to 16 vectorized {
    loop.for "k" %k to 2 contracted {
      %acc = loop.load %Y[%o] : memref<16xf32>
      %x = loop.load %X[%k] : memref<2xbf16>
      %w = loop.load %W[%o, %k] : memref<16x2xbf16>
      %xe = arith.extf %x : bf16 to f32
      %we = arith.extf %w : bf16 to f32
      %p = arith.mulf %xe, %we : f32
      %s = arith.addf %acc, %p : f32
      loop.store %s, %Y[%o] : memref<16xf32>
    }
  }
  func.return
}
