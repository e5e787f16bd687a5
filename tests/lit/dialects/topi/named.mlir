// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s

// Properties with their default value are not printed.
// CHECK-LABEL: func.func @convolutions
// CHECK: topi.conv2d_nchw(%x, %w) {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x5x5xf32>
// CHECK: topi.conv2d_nchwc(%b, %v) : (tensor<1x1x9x9x8xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
// CHECK: topi.conv2d_nchwc(%b, %d) {dilation = array<i64: 2, 1>, groups = 8 : i64}
func.func @convolutions(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>, %b: tensor<1x1x9x9x8xf32>,
                        %v: tensor<2x1x3x3x8x8xf32>, %d: tensor<1x1x3x3x1x8xf32>) -> tensor<1x16x5x5xf32> {
  %r = topi.conv2d_nchw(%x, %w) {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
    : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x5x5xf32>
  %s = topi.conv2d_nchwc(%b, %v) : (tensor<1x1x9x9x8xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  %t = topi.conv2d_nchwc(%b, %d) {dilation = array<i64: 2, 1>, groups = 8 : i64}
    : (tensor<1x1x9x9x8xf32>, tensor<1x1x3x3x1x8xf32>) -> tensor<1x1x5x7x8xf32>
  func.return %r : tensor<1x16x5x5xf32>
}

// Products that are added in groups of four are adjacent.
// CHECK-LABEL: func.func @terms
// CHECK: topi.conv2d_nchwc_terms(%x, %w) {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x2x9x9x8xui8>, tensor<2x4x3x3x8x4xi8>) -> tensor<1x2x9x9x8xi32>
// CHECK: topi.matmul(%y, %v) : (tensor<5x12xui8>, tensor<2x3x16x4xi8>) -> tensor<5x32xi32>
func.func @terms(%x: tensor<1x2x9x9x8xui8>, %w: tensor<2x4x3x3x8x4xi8>, %y: tensor<5x12xui8>, %v: tensor<2x3x16x4xi8>) {
  %r = topi.conv2d_nchwc_terms(%x, %w) {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x2x9x9x8xui8>, tensor<2x4x3x3x8x4xi8>) -> tensor<1x2x9x9x8xi32>
  %s = topi.matmul(%y, %v) : (tensor<5x12xui8>, tensor<2x3x16x4xi8>) -> tensor<5x32xi32>
  func.return
}

// Integers are summed in a wider type.
// CHECK-LABEL: func.func @products
// CHECK: topi.matmul(%x, %w) : (tensor<4x8xi8>, tensor<6x8xi8>) -> tensor<4x6xi32>
// CHECK: topi.matmul(%y, %p) : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x32xf32>
func.func @products(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>, %y: tensor<2x4x8xf32>, %p: tensor<2x8x16xf32>) {
  %r = topi.matmul(%x, %w) : (tensor<4x8xi8>, tensor<6x8xi8>) -> tensor<4x6xi32>
  %s = topi.matmul(%y, %p) : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x32xf32>
  func.return
}

// Either operand may be transposed; stacks broadcast.
// CHECK-LABEL: func.func @stacks
// CHECK: topi.batch_matmul(%q, %k) {transpose_right = true} : (tensor<2x3x4x8xf32>, tensor<3x6x8xf32>) -> tensor<2x3x4x6xf32>
// CHECK: topi.batch_matmul(%q, %v) {transpose_left = true} : (tensor<2x3x4x8xf32>, tensor<2x1x4x5xf32>) -> tensor<2x3x8x5xf32>
// CHECK: topi.batch_matmul(%m, %m) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
func.func @stacks(%q: tensor<2x3x4x8xf32>, %k: tensor<3x6x8xf32>, %v: tensor<2x1x4x5xf32>, %m: tensor<4x4xi8>) {
  %r = topi.batch_matmul(%q, %k) {transpose_left = false, transpose_right = true}
      : (tensor<2x3x4x8xf32>, tensor<3x6x8xf32>) -> tensor<2x3x4x6xf32>
  %s = topi.batch_matmul(%q, %v) {transpose_left = true} : (tensor<2x3x4x8xf32>, tensor<2x1x4x5xf32>) -> tensor<2x3x8x5xf32>
  %t = topi.batch_matmul(%m, %m) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
  func.return
}

// CHECK-LABEL: func.func @windows
// CHECK: topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
// CHECK: topi.pool2d(%x) {kind = "avg", kernel = array<i64: 2, 2>, count_include_pad = true} : (tensor<1x8x8x8xf32>) -> tensor<1x8x7x7xf32>
// CHECK: topi.softmax(%x) {axis = 3 : i64} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
func.func @windows(%x: tensor<1x8x8x8xf32>) {
  // A last window that is partly outside.
  %m = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>}
    : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
  %a = topi.pool2d(%x) {kind = "avg", kernel = array<i64: 2, 2>, count_include_pad = true}
    : (tensor<1x8x8x8xf32>) -> tensor<1x8x7x7xf32>
  %s = topi.softmax(%x) {axis = 3 : i64} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  func.return
}

// The same ops exist for one and three spatial axes.
// CHECK-LABEL: func.func @axes
// CHECK: topi.conv1d_ncw(%s, %f) {strides = array<i64: 2>, padding = array<i64: 1, 0>} : (tensor<1x8x9xf32>, tensor<16x8x3xf32>) -> tensor<1x16x4xf32>
// CHECK: topi.conv3d_ncdhw(%v, %g) {groups = 2 : i64} : (tensor<1x4x5x5x5xf32>, tensor<6x2x3x3x3xf32>) -> tensor<1x6x3x3x3xf32>
// CHECK: topi.pool1d(%s) {kind = "max", kernel = array<i64: 2>} : (tensor<1x8x9xf32>) -> tensor<1x8x8xf32>
// CHECK: topi.pool3d(%v) {kind = "avg", kernel = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (tensor<1x4x5x5x5xf32>) -> tensor<1x4x3x3x3xf32>
func.func @axes(%s: tensor<1x8x9xf32>, %f: tensor<16x8x3xf32>, %v: tensor<1x4x5x5x5xf32>, %g: tensor<6x2x3x3x3xf32>) {
  %a = topi.conv1d_ncw(%s, %f) {strides = array<i64: 2>, padding = array<i64: 1, 0>}
    : (tensor<1x8x9xf32>, tensor<16x8x3xf32>) -> tensor<1x16x4xf32>
  %b = topi.conv3d_ncdhw(%v, %g) {groups = 2 : i64} : (tensor<1x4x5x5x5xf32>, tensor<6x2x3x3x3xf32>) -> tensor<1x6x3x3x3xf32>
  %c = topi.pool1d(%s) {kind = "max", kernel = array<i64: 2>} : (tensor<1x8x9xf32>) -> tensor<1x8x8xf32>
  %d = topi.pool3d(%v) {kind = "avg", kernel = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>}
    : (tensor<1x4x5x5x5xf32>) -> tensor<1x4x3x3x3xf32>
  func.return
}

// CHECK-LABEL: func.func @blocked_axes
// CHECK: topi.conv1d_ncwc(%s, %f) {padding = array<i64: 1, 1>} : (tensor<1x2x9x8xf32>, tensor<2x2x3x8x8xf32>) -> tensor<1x2x9x8xf32>
// CHECK: topi.conv3d_ncdhwc(%v, %g) {groups = 2 : i64} : (tensor<1x2x5x5x5x8xf32>, tensor<4x1x3x3x3x8x8xf32>) -> tensor<1x4x3x3x3x8xf32>
// CHECK: topi.conv1d_ncwc_terms(%b, %h) : (tensor<1x2x9x8xui8>, tensor<2x4x3x8x4xi8>) -> tensor<1x2x7x8xi32>
// CHECK: topi.conv3d_ncdhwc_terms(%c, %k) : (tensor<1x1x3x3x3x8xui8>, tensor<2x2x3x3x3x8x4xi8>) -> tensor<1x2x1x1x1x8xi32>
func.func @blocked_axes(
    %s: tensor<1x2x9x8xf32>, %f: tensor<2x2x3x8x8xf32>, %v: tensor<1x2x5x5x5x8xf32>, %g: tensor<4x1x3x3x3x8x8xf32>,
    %b: tensor<1x2x9x8xui8>, %h: tensor<2x4x3x8x4xi8>, %c: tensor<1x1x3x3x3x8xui8>, %k: tensor<2x2x3x3x3x8x4xi8>) {
  %p = topi.conv1d_ncwc(%s, %f) {padding = array<i64: 1, 1>}
    : (tensor<1x2x9x8xf32>, tensor<2x2x3x8x8xf32>) -> tensor<1x2x9x8xf32>
  %q = topi.conv3d_ncdhwc(%v, %g) {groups = 2 : i64}
    : (tensor<1x2x5x5x5x8xf32>, tensor<4x1x3x3x3x8x8xf32>) -> tensor<1x4x3x3x3x8xf32>
  %r = topi.conv1d_ncwc_terms(%b, %h) : (tensor<1x2x9x8xui8>, tensor<2x4x3x8x4xi8>) -> tensor<1x2x7x8xi32>
  %t = topi.conv3d_ncdhwc_terms(%c, %k)
    : (tensor<1x1x3x3x3x8xui8>, tensor<2x2x3x3x3x8x4xi8>) -> tensor<1x2x1x1x1x8xi32>
  func.return
}
