// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=haswell -num-threads=1"}' | filecheck %s --check-prefix AVX2
// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"},loop-apply-schedules' | filecheck %s --check-prefix APPLIED
// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{families=registered}' | filecheck %s --check-prefix REGISTERED
// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{families=own}' | filecheck %s --check-prefix OWN

// No family is registered, so that families=registered assigns no schedule.
// REGISTERED-NOT: loop.schedule_reason
// OWN: loop.schedule_reason = "conv2d_nchwc: {{.*}}", loop.schedule_cycles = {{[0-9]+}} : i64

// 14 columns of two blocks stay in registers; threads divide the rows and blocks; the image is padded first.
// CHECK-LABEL: func.func private @conv
// CHECK-SAME: split("conv2d_write_3", 14
// CHECK-SAME: split("conv2d_write_1", 2
// CHECK-SAME: compute_at("conv2d", "conv2d_write_3_o"), reorder("conv2d_ko", "conv2d_y", "conv2d_x", "conv2d_ki", "conv2d_w", "conv2d_co", "conv2d_ci"), vectorize("conv2d_ci"), unroll("conv2d_w"), unroll("conv2d_co"), disable_unroll("conv2d_ko")
// CHECK-SAME: vectorize("pad_ci")
// CHECK-SAME: 14 columns x 2 blocks of 16 channels = 28 accumulators of 32 registers
// AVX2-LABEL: func.func private @conv
// AVX2-SAME: split("conv2d_write_3", 6
// AVX2-NOT: parallelize
// AVX2-SAME: 6 columns x 1 blocks of 16 channels = 12 accumulators of 16 registers
// APPLIED-LABEL: func.func private @conv
// APPLIED: parallel
// APPLIED: memref.alloc() : memref<2x14x16xf32, "local">
func.func private @conv(%x: tensor<1x4x56x56x16xf32>, %w: tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x56x56x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x4x56x56x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x56x56x16xf32>
  func.return %r : tensor<1x4x56x56x16xf32>
}

// A run-time weight is transposed, tile by tile, if enough rows use it.
// CHECK-LABEL: func.func private @dense_of_the_run
// CHECK-SAME: cache_read("matmul", 1, last = 0)
// CHECK-SAME: compute_at("matmul_read1", "matmul_write_1_o")
// CHECK-SAME: dense: the right operand is transposed: its columns are copied side by side
// APPLIED-LABEL: func.func private @dense_of_the_run
// APPLIED: memref.alloc() : memref<96x32xf32, "local">
func.func private @dense_of_the_run(%x: tensor<60x96xf32>, %w: tensor<256x96xf32>) -> tensor<60x256xf32> {
  %r = topi.matmul(%x, %w) : (tensor<60x96xf32>, tensor<256x96xf32>) -> tensor<60x256xf32>
  func.return %r : tensor<60x256xf32>
}

// Adjacent columns are read in place; each thread has some of the matrices.
// CHECK-LABEL: func.func private @values
// CHECK-NOT: cache_read
// CHECK-SAME: batch_matmul: parallel over 12 iterations
// CHECK-SAME: rows x
// AVX2-LABEL: func.func private @values
// AVX2-SAME: vectors of 8 columns
func.func private @values(%x: tensor<12x128x128xf32>, %y: tensor<12x128x64xf32>) -> tensor<12x128x64xf32> {
  %r = topi.batch_matmul(%x, %y) : (tensor<12x128x128xf32>, tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
  func.return %r : tensor<12x128x64xf32>
}

// A sum of more than 2^16 terms is added in parts. Two threads share them, since there is one tile of results.
// CHECK-LABEL: func.func private @long_sum
// CHECK-SAME: split("k", 10000, names = ["k_shares", "k"]), rfactor("batch_matmul", "k_shares"), cache_write("batch_matmul")
// CHECK-SAME: batch_matmul has 10 parts along k; parallel over 10 iterations of batch_matmul_write_0
// AVX2-LABEL: func.func private @long_sum
// AVX2-SAME: split("k", 4000, names = ["k_parts", "k"]), partial_sums("batch_matmul", "k_parts")
// AVX2-SAME: batch_matmul is split into partial sums
func.func private @long_sum(%x: tensor<4x100000xf32>, %y: tensor<100000x8xf32>) -> tensor<4x8xf32> {
  %r = topi.batch_matmul(%x, %y) : (tensor<4x100000xf32>, tensor<100000x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The lanes of a row of dynamic length have masks, if the target has them.
// CHECK-LABEL: func.func private @open_planes
// CHECK-SAME: split("l", 16, names = ["l_o", "l_i"]), rfactor("planes", "l_i"), {{.*}}reorder("k", "l_o", "l_i"), vectorize("l_i", access = "masked")
// AVX2-LABEL: func.func private @open_planes
// AVX2-NOT: rfactor
// AVX2: func.return
func.func private @open_planes(%x: tensor<?x16x?xf32, #relay.dims<m, n>>) -> tensor<16xf32> attributes {relay.primitive} {
  %r = topi.compute "planes" [%i : 16] reduce [%k : m, %l : n] init [%acc = 0.0 : f32] : tensor<16xf32> {
    %0 = topi.read %x[%k, %i, %l] : tensor<?x16x?xf32, #relay.dims<m, n>>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<16xf32>
}

// Threads share pieces of the rows, of a padded image too, where the image is larger than the weights. A single thread has
// pieces that stay in the L2 cache.
// CHECK-LABEL: func.func private @shared_rows
// CHECK-SAME: split("conv2d_write_2", 7, names = ["conv2d_write_2_p", "conv2d_write_2_r"]), reorder("conv2d_write_0", "conv2d_write_2_p", "conv2d_write_1_o", "conv2d_write_2_r",
// CHECK-SAME: parallel over 8 iterations of conv2d_write_0_conv2d_write_2_p
// CHECK-SAME: parallel over 29 iterations of pad_h_p
// AVX2-LABEL: func.func private @shared_rows
// AVX2-SAME: split("conv2d_write_2", 8, names = ["conv2d_write_2_p", "conv2d_write_2_r"])
func.func private @shared_rows(%x: tensor<1x4x56x56x16xf32>, %w: tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x56x56x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x4x56x56x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x56x56x16xf32>
  func.return %r : tensor<1x4x56x56x16xf32>
}

// Long rows are added to the results in the L1 cache, eight at a time. Two threads share the columns of a single matrix.
// CHECK-LABEL: func.func private @sum_of_rows
// CHECK-NOT: cache_inplace
// CHECK-SAME: parallelize(
// AVX2-LABEL: func.func private @sum_of_rows
// AVX2-SAME: split("k", 8, names = ["k_o", "k_i"]), split("j", 32, names = ["j_o", "j_i"]), reorder("k_o", "j_o", "k_i", "j_i"), cache_inplace("s", "j_o")
// AVX2-SAME: s adds 8 rows of j at a time to results in the L1 cache
func.func private @sum_of_rows(%x: tensor<1024x1024xf32>) -> tensor<1024xf32> {
  %y = topi.compute "s" [%j : 1024] reduce [%k : 1024] init [%acc = 0.0 : f32] : tensor<1024xf32> {
    %0 = topi.read %x[%k, %j] : tensor<1024x1024xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<1024xf32>
}

// Rows of a quarter of a page.
// CHECK-LABEL: func.func private @sums_of_short_rows
// CHECK-NOT: cache_inplace
// AVX2-LABEL: func.func private @sums_of_short_rows
// AVX2-NOT: cache_inplace
func.func private @sums_of_short_rows(%x: tensor<16x100x256xf32>) -> tensor<16x256xf32> {
  %y = topi.compute "s" [%i : 16, %j : 256] reduce [%k : 100] init [%acc = 0.0 : f32] : tensor<16x256xf32> {
    %0 = topi.read %x[%i, %k, %j] : tensor<16x100x256xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<16x256xf32>
}
