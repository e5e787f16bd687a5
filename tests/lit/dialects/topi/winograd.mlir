// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p topi-expand-named | filecheck %s --check-prefix EXPANDED

// The transforms of the data and of the products run along columns and rows. No step of the last one is a reduction, so
// that an epilogue is inlined into it.
// CHECK-LABEL: func.func @conv
// CHECK: topi.conv2d_nchwc_winograd(%x, %w) {tile = 4 : i64, padding = array<i64: 1, 0, 1, 1>}
// EXPANDED-LABEL: func.func @conv
// EXPANDED: topi.compute "pad" [%n : 1, %c : 2, %y : 10, %x_1 : 10, %ci : 8]
// EXPANDED: topi.compute "data_columns" [%n : 1, %c : 2, %ty : 2, %tx : 2, %p : 6, %q : 6, %ci : 8]
// EXPANDED: topi.compute "data_rows" [%n : 1, %p : 6, %q : 6, %c : 2, %ty : 2, %tx : 2, %ci : 8]
// EXPANDED: topi.compute "products" [%n : 1, %co : 3, %p : 6, %q : 6, %ty : 2, %tx : 2, %ci : 4] reduce [%ko : 2, %ki : 8]
// EXPANDED: topi.compute "result_columns" [%n : 1, %co : 3, %ty : 2, %tx : 2, %y : 4, %q : 6, %ci : 4]
// EXPANDED: topi.compute "conv2d" [%n : 1, %co : 3, %h : 7, %w_1 : 5, %ci : 4]
func.func @conv(%x: tensor<1x2x7x6x8xf32>, %w: tensor<3x6x6x16x4xf32>) -> tensor<1x3x7x5x4xf32> {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 4, padding = array<i64: 1, 0, 1, 1>}
    : (tensor<1x2x7x6x8xf32>, tensor<3x6x6x16x4xf32>) -> tensor<1x3x7x5x4xf32>
  func.return %r : tensor<1x3x7x5x4xf32>
}

// CHECK-LABEL: func.func @any_batch
// CHECK: topi.conv2d_nchwc_winograd(%x, %w) {tile = 2 : i64} : (tensor<?x1x4x4x8xf32, #relay.dims<n>>
func.func @any_batch(%x: tensor<?x1x4x4x8xf32, #relay.dims<n>>, %w: tensor<1x4x4x8x8xf32>) -> tensor<?x1x2x2x8xf32, #relay.dims<n>> {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2} : (tensor<?x1x4x4x8xf32, #relay.dims<n>>, tensor<1x4x4x8x8xf32>) -> tensor<?x1x2x2x8xf32, #relay.dims<n>>
  func.return %r : tensor<?x1x2x2x8xf32, #relay.dims<n>>
}

// If height or width is dynamic, tiles are in groups of 12, each tile has a part of the image, and the last step copies
// the tiles to the result.
// EXPANDED-LABEL: func.func @dynamic
// EXPANDED: topi.compute "pad" [%n : 1, %c : 2, %ty : (w + 22) floordiv 24, %tx : 12, %y : 6, %x_1 : 6, %ci : 8]
// EXPANDED: arith.divui
// EXPANDED: topi.compute "data_columns" [%n : 1, %c : 2, %ty : (w + 22) floordiv 24, %tx : 12, %p : 6, %q : 6, %ci : 8]
// EXPANDED: topi.compute "result_rows" [%n : 1, %co : 3, %ty : (w + 22) floordiv 24, %tx : 12, %y : 4, %x_1 : 4, %ci : 4]{{.*}}topi.materialized
// EXPANDED: topi.compute "conv2d" [%n : 1, %co : 3, %h : 7, %w_1 : w - 1, %ci : 4]
// EXPANDED-NEXT: topi.read %{{.*}}[%n, %co, (
func.func @dynamic(%x: tensor<1x2x7x?x8xf32, #relay.dims<w>>, %w: tensor<3x6x6x16x4xf32>) -> tensor<1x3x7x?x4xf32, #relay.dims<w - 1>> {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 4, padding = array<i64: 1, 0, 1, 1>}
    : (tensor<1x2x7x?x8xf32, #relay.dims<w>>, tensor<3x6x6x16x4xf32>) -> tensor<1x3x7x?x4xf32, #relay.dims<w - 1>>
  func.return %r : tensor<1x3x7x?x4xf32, #relay.dims<w - 1>>
}
