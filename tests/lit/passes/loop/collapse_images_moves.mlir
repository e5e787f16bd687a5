// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-collapse-images{vector-lanes=4}' | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-collapse-images{vector-lanes=3}' | filecheck --check-prefix=FULL %s
// FULL-NOT:      x1x18x

// A change of layout: rows and columns are the last two axes of one buffer only.
// CHECK-LABEL: func.func private @layout(%x: memref<1x8x1x18xf32>, %y: memref<1x2x1x18x4xf32>)
// CHECK-NEXT:    loop.for "c" %c to 2 {
// CHECK-NEXT:      loop.for "w" %w to 18 {
// CHECK-NEXT:        loop.for "v" %v to 4 {
// CHECK-NEXT:          loop.block "layout" (%vn : spatial 1 = 0, %vc : spatial 2 = %c, %vh : spatial 1 = 0, %vw : spatial 18 = %w, %vv : spatial 4 = %v)
// CHECK:                 loop.load %x[0, %vc * 4 + %vv, %vh, %vw] : memref<1x8x1x18xf32>
// CHECK:                 loop.store {{.*}}, %y[%vn, %vc, %vh, %vw, %vv] : memref<1x2x1x18x4xf32>
func.func private @layout(%x: tensor<1x8x3x6xf32>) -> tensor<1x2x3x6x4xf32> attributes {relay.primitive} {
  %y = topi.compute "layout" [%n : 1, %c : 2, %h : 3, %w : 6, %v : 4] : tensor<1x2x3x6x4xf32> {
    %0 = topi.read %x[0, %c * 4 + %v, %h, %w] : tensor<1x8x3x6xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<1x2x3x6x4xf32>
}

// CHECK-LABEL: func.func private @scaled(%x: memref<8x1x18xf32>, %f: memref<8xf32>, %y: memref<8x1x18xf32>)
func.func private @scaled(%x: tensor<8x3x6xf32>, %f: tensor<8xf32>) -> tensor<8x3x6xf32> attributes {relay.primitive} {
  %y = topi.compute "scale" [%c : 8, %h : 3, %w : 6] : tensor<8x3x6xf32> {
    %0 = topi.read %x[%c, %h, %w] : tensor<8x3x6xf32>
    %1 = topi.read %f[%c] : tensor<8xf32>
    %2 = arith.mulf %0, %1 : f32
    topi.yield %2 : f32
  }
  func.return %y : tensor<8x3x6xf32>
}

// Unchanged: a part of an image, images whose rows are the last two axes of no buffer, a sum, two places of one
// buffer, and updates at computed indices, whose order matters.
// CHECK-LABEL: func.func private @part({{.*}}, %y: memref<8x3x6xf32>)
func.func private @part(%x: tensor<8x3x7xf32>) -> tensor<8x3x6xf32> attributes {relay.primitive} {
  %y = topi.compute "part" [%c : 8, %h : 3, %w : 6] : tensor<8x3x6xf32> {
    %0 = topi.read %x[%c, %h, %w] : tensor<8x3x7xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<8x3x6xf32>
}

// CHECK-LABEL: func.func private @blocks({{.*}}, %y: memref<2x3x6x4xf32>)
func.func private @blocks(%x: tensor<2x3x6x4xf32>, %f: tensor<2x4xf32>) -> tensor<2x3x6x4xf32> attributes {relay.primitive} {
  %y = topi.compute "blocks" [%c : 2, %h : 3, %w : 6, %v : 4] : tensor<2x3x6x4xf32> {
    %0 = topi.read %x[%c, %h, %w, %v] : tensor<2x3x6x4xf32>
    %1 = topi.read %f[%c, %v] : tensor<2x4xf32>
    %2 = arith.addf %0, %1 : f32
    topi.yield %2 : f32
  }
  func.return %y : tensor<2x3x6x4xf32>
}

// CHECK-LABEL: func.func private @sum({{.*}}, %y: memref<3x6xf32>)
func.func private @sum(%x: tensor<8x3x6xf32>) -> tensor<3x6xf32> attributes {relay.primitive} {
  %y = topi.compute "sum" [%h : 3, %w : 6] reduce [%c : 8] init [%acc = 0.0 : f32] : tensor<3x6xf32> {
    %0 = topi.read %x[%c, %h, %w] : tensor<8x3x6xf32>
    %1 = arith.addf %acc, %0 : f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<3x6xf32>
}

// CHECK-LABEL: func.func private @places({{.*}}, %y: memref<3x3xf32>)
func.func private @places(%x: tensor<3x3x3x3xf32>) -> tensor<3x3xf32> attributes {relay.primitive} {
  %y = topi.compute "places" [%h : 3, %w : 3] : tensor<3x3xf32> {
    %0 = topi.read %x[0, 0, %h, %w] : tensor<3x3x3x3xf32>
    %1 = topi.read %x[%h, %w, 0, 0] : tensor<3x3x3x3xf32>
    %2 = arith.addf %0, %1 : f32
    topi.yield %2 : f32
  }
  func.return %y : tensor<3x3xf32>
}

// CHECK-LABEL: func.func private @updates(%x: memref<9xf32>, %at: memref<3x2xi64>,
func.func private @updates(%x: tensor<9xf32>, %at: tensor<3x2xi64>, %u: tensor<3x2xf32>) -> tensor<9xf32> attributes {relay.primitive} {
  %y = topi.scatter "updates" [%h : 3, %w : 2] update into %x : tensor<9xf32> {
    %0 = topi.read %at[%h, %w] : tensor<3x2xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = topi.read %u[%h, %w] : tensor<3x2xf32>
    topi.yield %1, %2 : index, f32
  }
  func.return %y : tensor<9xf32>
}
