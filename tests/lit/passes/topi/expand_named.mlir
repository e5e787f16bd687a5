// RUN: xrelay-opt %s -p topi-expand-named | filecheck %s

// Padding is a separate compute; the result records the original op.
// CHECK-LABEL: func.func @conv
// CHECK: %[[PAD:.*]] = topi.compute "pad" [%n : 1, %c : 8, %h : 11, %w_1 : 11] : tensor<1x8x11x11xf32> attributes {topi.expanded_from = "topi.conv2d_nchw"} {
// CHECK:   topi.in_bounds [%h - 1, %w_1 - 1] of [9, 9]
// CHECK: topi.compute "conv2d" [%n : 1, %c : 16, %h : 5, %w_1 : 5] reduce [%k : 8, %y : 3, %x_1 : 3] init [%acc = 0.000000e+00 : f32] : tensor<1x16x5x5xf32>
// CHECK:   topi.read %[[PAD]][%n, %k, %h * 2 + %y, %w_1 * 2 + %x_1]
// CHECK:   arith.mulf {{.*}} fastmath<contract> : f32
// CHECK-NOT: topi.conv2d_nchw(
func.func @conv(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x5x5xf32> {
  %r = topi.conv2d_nchw(%x, %w) {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x5x5xf32>
  func.return %r : tensor<1x16x5x5xf32>
}

// Without padding there is no compute for it. With groups a filter reads the channels of its group.
// CHECK-LABEL: func.func @grouped
// CHECK-NOT: "pad"
// CHECK: topi.read %x[%n, %k + %c floordiv 2 * 4, %h + %y, %w_1 + %x_1]
func.func @grouped(%x: tensor<1x8x9x9xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32> {
  %r = topi.conv2d_nchw(%x, %w) {groups = 2 : i64}
    : (tensor<1x8x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  func.return %r : tensor<1x4x7x7xf32>
}

// Depthwise: data is read at the lane of the result.
// CHECK-LABEL: func.func @depthwise
// CHECK: topi.read %x[%n, %co, %h + %y, %w_1 + %x_1, %ci]
// CHECK: topi.read %w[%co, %ko, %y, %x_1, %ki, %ci]
func.func @depthwise(%x: tensor<1x2x9x9x8xf32>, %w: tensor<2x1x3x3x1x8xf32>) -> tensor<1x2x7x7x8xf32> {
  %r = topi.conv2d_nchwc(%x, %w) {groups = 16 : i64}
    : (tensor<1x2x9x9x8xf32>, tensor<2x1x3x3x1x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return %r : tensor<1x2x7x7x8xf32>
}

// Of one axis.
// CHECK-LABEL: func.func @sequence
// CHECK: topi.compute "conv1d" [%n : 1, %co : 2, %w_1 : 7, %ci : 8] reduce [%ko : 1, %x_1 : 3, %ki : 8]
// CHECK: topi.read %x[%n, %ko, %w_1 + %x_1, %ki]
func.func @sequence(%x: tensor<1x1x9x8xf32>, %w: tensor<2x1x3x8x8xf32>) -> tensor<1x2x7x8xf32> {
  %r = topi.conv1d_ncwc(%x, %w) : (tensor<1x1x9x8xf32>, tensor<2x1x3x8x8xf32>) -> tensor<1x2x7x8xf32>
  func.return %r : tensor<1x2x7x8xf32>
}

// A packed weight is read at block and lane of the column; integers are extended before they are multiplied.
// CHECK-LABEL: func.func @dense
// CHECK: topi.read %w[%j floordiv 16, %k, %j mod 16] : tensor<2x8x16xi8>
// CHECK: arith.extsi
// CHECK: arith.extsi
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<2x8x16xi8>) -> tensor<4x32xi32> {
  %r = topi.matmul(%x, %w) : (tensor<4x8xi8>, tensor<2x8x16xi8>) -> tensor<4x32xi32>
  func.return %r : tensor<4x32xi32>
}

// Transposed matrices are read with swapped indices, a stack of one at 0.
// CHECK-LABEL: func.func @stacks
// CHECK: topi.compute "batch_matmul" [%b0 : 2, %b1 : 3, %i : 4, %j : 6] reduce [%k : 8] init [%acc = 0.000000e+00 : f32]
// CHECK: topi.read %x[%b0, 0, %k, %i] : tensor<2x1x8x4xf32>
// CHECK: topi.read %y[%b1, %j, %k] : tensor<3x6x8xf32>
func.func @stacks(%x: tensor<2x1x8x4xf32>, %y: tensor<3x6x8xf32>) -> tensor<2x3x4x6xf32> {
  %r = topi.batch_matmul(%x, %y) {transpose_left = true, transpose_right = true}
    : (tensor<2x1x8x4xf32>, tensor<3x6x8xf32>) -> tensor<2x3x4x6xf32>
  func.return %r : tensor<2x3x4x6xf32>
}

// The initial maximum is below all values; a plain image is padded with it.
// CHECK-LABEL: func.func @max
// CHECK: topi.compute "pad" {{.*}} : tensor<1x8x9x9xf32>
// CHECK: topi.guard
// CHECK: arith.constant 0xff800000 : f32
// CHECK: "max_pool2d" {{.*}} init [%acc = 0xff800000 : f32]
// CHECK-NOT: topi.guard
// CHECK: arith.maximumf
func.func @max(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32>
  func.return %r : tensor<1x8x4x4xf32>
}

// In blocks the condition is uniform over a vector: taps outside are skipped.
// CHECK-LABEL: func.func @max_in_blocks
// CHECK-NOT: "pad"
// CHECK: init [%acc = 0xff800000 : f32]
// CHECK: topi.guard
// CHECK: arith.maximumf
func.func @max_in_blocks(%x: tensor<1x1x7x7x8xf32>) -> tensor<1x1x4x4x8xf32> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x1x7x7x8xf32>) -> tensor<1x1x4x4x8xf32>
  func.return %r : tensor<1x1x4x4x8xf32>
}

// A tap outside of a column reads the nearest row, and one outside of a row is skipped: there is no padded copy.
// CHECK-LABEL: func.func @max_along_one_axis
// CHECK-NOT: "pad"
// CHECK: [[LOW:%.*]] = arith.maxsi
// CHECK: [[AT:%.*]] = arith.minsi [[LOW]],
// CHECK: topi.read %x[%n, %c, [[AT]], %w + %x_1]
// CHECK-NOT: "pad"
// CHECK: topi.guard
func.func @max_along_one_axis(%x: tensor<1x8x?x7xf32, #relay.dims<h>>) -> tensor<1x8x?x7xf32, #relay.dims<h>> {
  %t = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 1>, padding = array<i64: 1, 0, 1, 0>}
    : (tensor<1x8x?x7xf32, #relay.dims<h>>) -> tensor<1x8x?x7xf32, #relay.dims<h>>
  %r = topi.pool2d(%t) {kind = "max", kernel = array<i64: 1, 3>, padding = array<i64: 0, 1, 0, 1>}
    : (tensor<1x8x?x7xf32, #relay.dims<h>>) -> tensor<1x8x?x7xf32, #relay.dims<h>>
  func.return %r : tensor<1x8x?x7xf32, #relay.dims<h>>
}

// A window may be outside of an image that has more padding than taps.
// CHECK-LABEL: func.func @max_of_padding
// CHECK: topi.compute "pad"
func.func @max_of_padding(%x: tensor<1x8x?x7xf32, #relay.dims<h>>) -> tensor<1x8x?x7xf32, #relay.dims<h + 2>> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 1>, padding = array<i64: 2, 0, 2, 0>}
    : (tensor<1x8x?x7xf32, #relay.dims<h>>) -> tensor<1x8x?x7xf32, #relay.dims<h + 2>>
  func.return %r : tensor<1x8x?x7xf32, #relay.dims<h + 2>>
}

// Without padding every window has the same number of taps.
// CHECK-LABEL: func.func @mean
// CHECK: "sum_pool2d"
// CHECK-NOT: topi.guard
// CHECK: "avg_pool2d"
// CHECK: arith.constant 4.900000e+01 : f32
// CHECK-NEXT: arith.divf
func.func @mean(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32> {
  %r = topi.pool2d(%x) {kind = "avg", kernel = array<i64: 7, 7>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>
  func.return %r : tensor<1x8x1x1xf32>
}

// A window that fits into an open image is inside of it: neither a condition nor a number of taps is computed.
// CHECK-LABEL: func.func @mean_of_open_size
// CHECK: "sum_pool2d"
// CHECK-NOT: topi.guard
// CHECK: "avg_pool2d"
// CHECK: arith.constant 4.000000e+00 : f32
// CHECK-NEXT: arith.divf
func.func @mean_of_open_size(%x: tensor<1x8x?x8xf32, #relay.dims<h>>) -> tensor<1x8x?x4xf32, #relay.dims<h floordiv 2>> {
  %r = topi.pool2d(%x) {kind = "avg", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x8x?x8xf32, #relay.dims<h>>) -> tensor<1x8x?x4xf32, #relay.dims<h floordiv 2>>
  func.return %r : tensor<1x8x?x4xf32, #relay.dims<h floordiv 2>>
}

// A partial last window of an image of dynamic size reads its padding, which stays in memory. The divisor is computed.
// CHECK-LABEL: func.func @partial_of_open_size
// CHECK: topi.compute "pad" {{.*}} : tensor<1x8x?x8xf32, #relay.dims<2 * ((h + 1) floordiv 2)>> attributes {topi.materialized,
// CHECK: topi.guard
// CHECK: "sum_pool2d"
// CHECK-NOT: topi.guard
// CHECK: "avg_pool2d"
// CHECK: arith.minsi
func.func @partial_of_open_size(%x: tensor<1x8x?x8xf32, #relay.dims<h>>) -> tensor<1x8x?x4xf32, #relay.dims<(h + 1) floordiv 2>> {
  %r = topi.pool2d(%x) {kind = "avg", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x8x?x8xf32, #relay.dims<h>>) -> tensor<1x8x?x4xf32, #relay.dims<(h + 1) floordiv 2>>
  func.return %r : tensor<1x8x?x4xf32, #relay.dims<(h + 1) floordiv 2>>
}

// CHECK-LABEL: func.func @softmax
// CHECK: %[[MAX:.*]] = topi.compute "softmax_max" [%i0 : 4, %i2 : 5] reduce [%k : 10]
// CHECK: %[[EXP:.*]] = topi.compute "softmax_exp"
// CHECK:   topi.read %[[MAX]][%i0, %i2]
// CHECK: topi.compute "softmax_sum"
// CHECK:   topi.read %[[EXP]][%i0, %k, %i2]
// CHECK: %r = topi.compute "softmax"
func.func @softmax(%x: tensor<4x10x5xf32>) -> tensor<4x10x5xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<4x10x5xf32>) -> tensor<4x10x5xf32>
  func.return %r : tensor<4x10x5xf32>
}

// The exponentials of a softmax are powers of 2, except those of f64. Its maximum need not propagate NaNs.
// CHECK-LABEL: func.func @exponentials
// CHECK: topi.compute "softmax_max"
// CHECK: arith.maximumf {{.*}} fastmath<{{nnan,nsz|nsz,nnan}}> : f32
// CHECK: topi.compute "softmax_exp"
// CHECK: [[BELOW:%.*]] = arith.subf
// CHECK: [[SCALED:%.*]] = arith.mulf [[BELOW]],
// CHECK: math.exp2 [[SCALED]] : f32
// CHECK: math.exp {{.*}} : f64
func.func @exponentials(%x: tensor<4x10xf32>, %y: tensor<4x10xf64>) -> (tensor<4x10xf32>, tensor<4x10xf64>) {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<4x10xf32>) -> tensor<4x10xf32>
  %s = topi.softmax(%y) {axis = 1 : i64} : (tensor<4x10xf64>) -> tensor<4x10xf64>
  func.return %r, %s : tensor<4x10xf32>, tensor<4x10xf64>
}

// The exponentials of a logarithm are kept in memory.
// CHECK-LABEL: func.func @logarithm
// CHECK: topi.compute "softmax_exp" {{.*}} attributes {{{.*}}topi.materialized
// CHECK: topi.compute "softmax_log"
// CHECK: math.log
// CHECK: topi.compute "log_softmax"
// CHECK: arith.subf
// CHECK: arith.subf
func.func @logarithm(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64, log = true} : (tensor<4x10xf32>) -> tensor<4x10xf32>
  func.return %r : tensor<4x10xf32>
}
