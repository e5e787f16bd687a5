// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=8"}' | filecheck %s --check-prefix THREADS

// The transformed data of a block of tiles stays in the L2 cache. The epilogue is part of the last transform. The weight
// fits into the cache as well, so the smallest block of whole register tiles is chosen.
// CHECK-LABEL: func.func private @conv
// CHECK-SAME: cache_write("products")
// CHECK-SAME: compute_at("result_columns", "relu_co_i")
// CHECK-SAME: compute_at("products_write", "relu_co_o")
// CHECK-SAME: fuse("products_write_2", "products_write_3", name = "products_write_pq"), compute_at("products", "products_write_pq")
// CHECK-SAME: vectorize("products_ci"), unroll("products_tx"), unroll("products_co"), disable_unroll("products_ko")
// CHECK-NOT: partial_sums
// CHECK-NOT: prefetch
// CHECK-SAME: compute_at("data_rows", "relu_h_o")
// CHECK-SAME: compute_at("data_columns", "data_rows_tx")
// CHECK-SAME: compute_at("pad", "data_rows_c")
// CHECK-SAME: winograd: blocks of 1 x 14 tiles, 1 x 14 tiles x 2 blocks of filters in registers
// THREADS-LABEL: func.func private @conv
// THREADS-SAME: parallelize(
func.func private @conv(%x: tensor<1x4x56x56x16xf32>, %w: tensor<4x6x6x64x16xf32>) -> tensor<1x4x56x56x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 4, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x56x56x16xf32>, tensor<4x6x6x64x16xf32>) -> tensor<1x4x56x56x16xf32>
  %y = topi.compute "relu" [%n : 1, %co : 4, %h : 56, %v : 56, %ci : 16] : tensor<1x4x56x56x16xf32> {
    %0 = topi.read %r[%n, %co, %h, %v, %ci] : tensor<1x4x56x56x16xf32>
    %1 = arith.constant 0.0 : f32
    %2 = arith.maximumf %0, %1 : f32
    topi.yield %2 : f32
  }
  func.return %y : tensor<1x4x56x56x16xf32>
}

// One block has all tiles: threads share the filters, and each of them transforms the data. Sums over many channels are
// split into partial sums. The weight, which is read once for an image, is prefetched.
// CHECK-LABEL: func.func private @small
// CHECK-SAME: split("products_ko", 8, names = ["products_ko_parts", "products_ko"]), partial_sums("products", "products_ko_parts")
// CHECK-SAME: prefetch("products_ko")
// THREADS-LABEL: func.func private @small
// THREADS-SAME: split("conv2d_co_o", 8, names = ["conv2d_co_o_o", "conv2d_co_o_i"])
// THREADS-SAME: compute_at("data_rows", "conv2d_co_o_i")
// THREADS-SAME: parallelize("conv2d_co_o_i")
func.func private @small(%x: tensor<1x32x7x7x16xf32>, %w: tensor<32x4x4x512x16xf32>) -> tensor<1x32x7x7x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 2, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x7x7x16xf32>, tensor<32x4x4x512x16xf32>) -> tensor<1x32x7x7x16xf32>
  func.return %r : tensor<1x32x7x7x16xf32>
}

// Blocks of 56 tiles would read the weight less often, but their data and the weight displace each other in the L2 cache.
// CHECK-LABEL: func.func private @crowded
// CHECK-SAME: winograd: blocks of 1 x 28 tiles
func.func private @crowded(%x: tensor<1x4x112x112x16xf32>, %w: tensor<16x6x6x64x16xf32>) -> tensor<1x16x112x112x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 4, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x112x112x16xf32>, tensor<16x6x6x64x16xf32>) -> tensor<1x16x112x112x16xf32>
  func.return %r : tensor<1x16x112x112x16xf32>
}

// With dynamic height or width, a block has 4 groups of 12 tiles, and a nest of its own copies the tiles to the result. With
// several threads, two share the filters of a block. Kernels for other numbers of channels have equal schedules.
// CHECK-LABEL: func.func private @dynamic
// CHECK-SAME: split("result_rows_ty", 4, tail = mask, names = ["result_rows_ty_o", "result_rows_ty_i"])
// CHECK-SAME: compute_at("result_columns", "result_rows_co_i")
// CHECK-SAME: compute_at("products_write", "result_rows_co_o")
// CHECK-SAME: compute_at("data_rows", "result_rows_ty_o")
// CHECK-SAME: compute_at("data_columns", "data_rows_tx")
// CHECK-SAME: compute_at("pad", "data_rows_tx")
// CHECK-SAME: split("conv2d_w", 4, tail = mask, names = ["conv2d_w_o", "conv2d_w_i"]), reorder("conv2d_h", "conv2d_co", "conv2d_w_o", "conv2d_w_i", "conv2d_ci"), vectorize("conv2d_ci")]
// CHECK-SAME: winograd: blocks of 4 x 12 tiles, 1 x 12 tiles x 2 blocks of filters in registers
// THREADS-LABEL: func.func private @dynamic
// THREADS-SAME: split("result_rows_co_o", 2, names = ["result_rows_co_o_o", "result_rows_co_o_i"])
// THREADS-SAME: compute_at("data_rows", "result_rows_co_o_i")
func.func private @dynamic(%x: tensor<1x4x?x20x16xf32, #relay.dims<h>>, %w: tensor<8x6x6x64x16xf32>) -> tensor<1x8x?x20x16xf32, #relay.dims<h>> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_winograd(%x, %w) {tile = 4, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x?x20x16xf32, #relay.dims<h>>, tensor<8x6x6x64x16xf32>) -> tensor<1x8x?x20x16xf32, #relay.dims<h>>
  func.return %r : tensor<1x8x?x20x16xf32, #relay.dims<h>>
}
