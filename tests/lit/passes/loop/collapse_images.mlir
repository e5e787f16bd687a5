// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-collapse-images{vector-lanes=4}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-collapse-images{vector-lanes=3}' | filecheck --check-prefix=FULL %s
// FULL-NOT:      memref<2x4x1x18xf32>

// The pixels of an image are in one row, in both blocks. A buffer that is passed twice stays one buffer.
// CHECK-LABEL: func.func @main(%x: memref<2x4x3x6xf32>, {{.*}}, %z: memref<2x4x3x6xf32>)
// CHECK-NEXT:    %y = memref.alloc() : memref<2x4x3x6xf32>
// CHECK-NEXT:    [[ZERO:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[X:%.*]] = loop.subview %x[[[ZERO]]] [] : memref<2x4x3x6xf32> to memref<2x4x1x18xf32>
// CHECK-NEXT:    [[Y:%.*]] = loop.subview %y[[[ZERO]]] [] : memref<2x4x3x6xf32> to memref<2x4x1x18xf32>
// CHECK-NEXT:    func.call @kernel([[X]], %w, %b, [[X]], [[Y]])
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    [[Y:%.*]] = loop.subview %y
// CHECK-NEXT:    [[X:%.*]] = loop.subview %x
// CHECK-NEXT:    [[Z:%.*]] = loop.subview %z
// CHECK-NEXT:    func.call @kernel([[Y]], %w, %b, [[X]], [[Z]])
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<2x4x3x6xf32>, %w: tensor<4x2x1x1xf32>, %b: tensor<4x1x1xf32>) -> tensor<2x4x3x6xf32> {
  %y = func.call @kernel(%x, %w, %b, %x) : (tensor<2x4x3x6xf32>, tensor<4x2x1x1xf32>, tensor<4x1x1xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  %z = func.call @kernel(%y, %w, %b, %x) : (tensor<2x4x3x6xf32>, tensor<4x2x1x1xf32>, tensor<4x1x1xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  func.return %z : tensor<2x4x3x6xf32>
}

// CHECK-LABEL: func.func private @kernel(%x: memref<2x4x1x18xf32>, %w: memref<4x2x1x1xf32>, %b: memref<4x1x1xf32>, %r: memref<2x4x1x18xf32>, %y: memref<2x4x1x18xf32>)
// CHECK-NEXT:    %c = memref.alloc() : memref<2x4x1x18xf32>
// CHECK-NEXT:    loop.for "conv2d_n" %conv2d_n to 2 {
// CHECK-NEXT:      loop.for "conv2d_c" %conv2d_c to 4 {
// CHECK-NEXT:        loop.for "conv2d_w" %conv2d_w to 18 {
// CHECK-NEXT:          loop.for "conv2d_k" %conv2d_k to 2 {
// CHECK-NEXT:            loop.block "conv2d" ({{.*}}, %vh : spatial 1 = 0, %vw : spatial 18 = %conv2d_w, {{.*}} init {
// CHECK-NEXT:              arith.constant
// CHECK-NEXT:              loop.store {{.*}}, %c[%vn, %vc, %vh, %vw] : memref<2x4x1x18xf32>
// CHECK:                   loop.load %x[%vn, %vk + %vc floordiv 2 * 2, %vh + %vy, %vw + %vx] : memref<2x4x1x18xf32>
// CHECK:         loop.for "add_c0" %add_c0 to 4 {
// CHECK-NEXT:      loop.for "add_v" %add_v to 18 {
// CHECK-NEXT:        loop.block "add" ({{.*}} : spatial 2 = %add_n, {{.*}}, {{.*}} : spatial 1 = 0, {{.*}} : spatial 18 = %add_v)
func.func private @kernel(%x: tensor<2x4x3x6xf32>, %w: tensor<4x2x1x1xf32>, %b: tensor<4x1x1xf32>, %r: tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32> attributes {relay.primitive} {
  %c = topi.conv2d_nchw(%x, %w) {groups = 2 : i64} : (tensor<2x4x3x6xf32>, tensor<4x2x1x1xf32>) -> tensor<2x4x3x6xf32>
  %y = topi.compute "add" [%n : 2, %c0 : 4, %h : 3, %v : 6] : tensor<2x4x3x6xf32> {
    %0 = topi.read %c[%n, %c0, %h, %v] : tensor<2x4x3x6xf32>
    %1 = topi.read %b[%c0, 0, 0] : tensor<4x1x1xf32>
    %2 = topi.read %r[%n, %c0, %h, %v] : tensor<2x4x3x6xf32>
    %3 = arith.addf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    topi.yield %4 : f32
  }
  func.return %y : tensor<2x4x3x6xf32>
}

// Unchanged: a window of several pixels, a stride, a factor for each column, the transposed image, a public kernel,
// and one with a schedule.
// CHECK-LABEL: func.func private @window(%x: memref<1x4x3x6xf32>, %w: memref<4x4x3x3xf32>, %y: memref<1x4x1x4xf32>)
func.func private @window(%x: tensor<1x4x3x6xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x1x4xf32> attributes {relay.primitive} {
  %y = topi.conv2d_nchw(%x, %w) : (tensor<1x4x3x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x1x4xf32>
  func.return %y : tensor<1x4x1x4xf32>
}

// CHECK-LABEL: func.func private @stride({{.*}}, %y: memref<1x4x2x3xf32>)
func.func private @stride(%x: tensor<1x4x3x6xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> attributes {relay.primitive} {
  %y = topi.conv2d_nchw(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x4x3x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
  func.return %y : tensor<1x4x2x3xf32>
}

// CHECK-LABEL: func.func private @columns({{.*}}, %y: memref<1x4x3x6xf32>)
func.func private @columns(%x: tensor<1x4x3x6xf32>, %w: tensor<4x4x1x1xf32>, %f: tensor<6xf32>) -> tensor<1x4x3x6xf32> attributes {relay.primitive} {
  %c = topi.conv2d_nchw(%x, %w) : (tensor<1x4x3x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x6xf32>
  %y = topi.compute "scale" [%n : 1, %c0 : 4, %h : 3, %v : 6] : tensor<1x4x3x6xf32> {
    %0 = topi.read %c[0, %c0, %h, %v] : tensor<1x4x3x6xf32>
    %1 = topi.read %f[%v] : tensor<6xf32>
    %2 = arith.mulf %0, %1 : f32
    topi.yield %2 : f32
  }
  func.return %y : tensor<1x4x3x6xf32>
}

// CHECK-LABEL: func.func private @transposed({{.*}}, %y: memref<1x4x3x3xf32>)
func.func private @transposed(%x: tensor<1x4x3x3xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32> attributes {relay.primitive} {
  %c = topi.conv2d_nchw(%x, %w) : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %y = topi.compute "transpose" [%n : 1, %c0 : 4, %h : 3, %v : 3] : tensor<1x4x3x3xf32> {
    %0 = topi.read %c[0, %c0, %v, %h] : tensor<1x4x3x3xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<1x4x3x3xf32>
}

// CHECK-LABEL: func.func @public({{.*}}, %y: memref<1x4x3x6xf32>)
func.func @public(%x: tensor<1x4x3x6xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x3x6xf32> attributes {relay.primitive} {
  %y = topi.conv2d_nchw(%x, %w) : (tensor<1x4x3x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x6xf32>
  func.return %y : tensor<1x4x3x6xf32>
}

// CHECK-LABEL: func.func private @scheduled({{.*}}, %y: memref<1x4x3x6xf32>)
func.func private @scheduled(%x: tensor<1x4x3x6xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x3x6xf32> attributes {relay.primitive, loop.schedule = #loop.schedule<[parallelize("conv2d_h")]>} {
  %y = topi.conv2d_nchw(%x, %w) : (tensor<1x4x3x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x6xf32>
  func.return %y : tensor<1x4x3x6xf32>
}
