// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// Rows, then columns; the partial last window of the columns stays.
// CHECK-LABEL: @large
// CHECK:       [[ROWS:%.*]] = topi.pool2d(%x) {kind = "max", kernel = array<i64: 1, 5>, strides = array<i64: 1, 2>, padding = array<i64: 0, 2, 0, 2>{{.*}}} : (tensor<1x8x20x20xf32>) -> tensor<1x8x20x11xf32>
// CHECK-NEXT:  topi.pool2d([[ROWS]]) {kind = "max", kernel = array<i64: 7, 1>, strides = array<i64: 2, 1>, padding = array<i64: 3, 0, 3, 0>{{.*}}} : (tensor<1x8x20x11xf32>) -> tensor<1x8x11x11xf32>
func.func private @large(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x11x11xf32> attributes {relay.primitive} {
  %r = relay.nn.max_pool2d(%x) {pool_size = [7, 5], strides = [2, 2], padding = [3, 2, 3, 2], ceil_mode = true} : (tensor<1x8x20x20xf32>) -> tensor<1x8x11x11xf32>
  func.return %r : tensor<1x8x11x11xf32>
}

// CHECK-LABEL: @small
// CHECK-SAME:  max_pool2d.pool2d
// CHECK:       topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>
// CHECK-NEXT:  func.return
func.func private @small(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32> attributes {relay.primitive} {
  %r = relay.nn.max_pool2d(%x) {pool_size = [3, 3]} : (tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32>
  func.return %r : tensor<1x8x18x18xf32>
}

// The rows stay in blocks of channels.
// CHECK-LABEL: @blocked
// CHECK:       topi.pool2d(%x) {{.*}} -> tensor<1x2x9x5x8xf32>
// CHECK-NEXT:  topi.pool2d
func.func private @blocked(%x: tensor<1x2x9x9x8xf32>) -> tensor<1x2x5x5x8xf32> attributes {relay.primitive} {
  %r = relay.nn.max_pool2d(%x) {pool_size = [5, 5], layout = "NCHW8c"} : (tensor<1x2x9x9x8xf32>) -> tensor<1x2x5x5x8xf32>
  func.return %r : tensor<1x2x5x5x8xf32>
}

// Rows, then columns, then the depth.
// CHECK-LABEL: @volume
// CHECK-SAME:  max_pool3d.separable
// CHECK:       [[ROWS:%.*]] = topi.pool3d(%x) {kind = "max", kernel = array<i64: 1, 1, 3>{{.*}}} : (tensor<1x2x8x9x10xf32>) -> tensor<1x2x8x9x8xf32>
// CHECK-NEXT:  [[COLUMNS:%.*]] = topi.pool3d([[ROWS]]) {kind = "max", kernel = array<i64: 1, 3, 1>{{.*}}} : (tensor<1x2x8x9x8xf32>) -> tensor<1x2x8x7x8xf32>
// CHECK-NEXT:  topi.pool3d([[COLUMNS]]) {kind = "max", kernel = array<i64: 3, 1, 1>{{.*}}} : (tensor<1x2x8x7x8xf32>) -> tensor<1x2x6x7x8xf32>
func.func private @volume(%x: tensor<1x2x8x9x10xf32>) -> tensor<1x2x6x7x8xf32> attributes {relay.primitive} {
  %r = relay.nn.max_pool3d(%x) {pool_size = [3, 3, 3]} : (tensor<1x2x8x9x10xf32>) -> tensor<1x2x6x7x8xf32>
  func.return %r : tensor<1x2x6x7x8xf32>
}
