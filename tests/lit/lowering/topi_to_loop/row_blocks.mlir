// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -l2=2097152 -num-threads=1"}' | filecheck %s

// The left operand of 3 MB is larger than the L2 cache of 2 MB, and a block of 38 tiles of 9 rows fits into half of the cache.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: split("matmul_write_0_o", 38, names = ["matmul_write_0_o_b", "matmul_write_0_o_r"])
// CHECK-SAME: reorder("matmul_write_0_o_b", "matmul_write_1_o", "matmul_write_0_o_r", "matmul_write_0_i",
// CHECK-SAME: 3 blocks of rows
func.func private @rows(%x: tensor<1024x768xf32>, %w: tensor<192x768x16xf32>) -> tensor<1024x3072xf32> {
  %r = topi.matmul(%x, %w) : (tensor<1024x768xf32>, tensor<192x768x16xf32>) -> tensor<1024x3072xf32>
  func.return %r : tensor<1024x3072xf32>
}

// Each image of a batch is a block.
// CHECK-LABEL: func.func private @images
// CHECK-SAME: reorder("matmul_write_0", "matmul_write_2_o", "matmul_write_1_o", "matmul_write_1_i",
// CHECK-SAME: 4 blocks of rows
func.func private @images(%x: tensor<4x256x768xf32>, %w: tensor<192x768x16xf32>) -> tensor<4x256x3072xf32> {
  %r = topi.matmul(%x, %w) : (tensor<4x256x768xf32>, tensor<192x768x16xf32>) -> tensor<4x256x3072xf32>
  func.return %r : tensor<4x256x3072xf32>
}

// Blocks that fit would read the weight so often that they save little.
// CHECK-LABEL: func.func private @long_rows
// CHECK-SAME: reorder("matmul_write_1_o", "matmul_write_0_o", "matmul_write_0_i",
// CHECK-NOT: blocks of rows
func.func private @long_rows(%x: tensor<1024x3072xf32>, %w: tensor<48x3072x16xf32>) -> tensor<1024x768xf32> {
  %r = topi.matmul(%x, %w) : (tensor<1024x3072xf32>, tensor<48x3072x16xf32>) -> tensor<1024x768xf32>
  func.return %r : tensor<1024x768xf32>
}

// The left operand fits into the cache.
// CHECK-LABEL: func.func private @few_rows
// CHECK-NOT: blocks of rows
func.func private @few_rows(%x: tensor<128x768xf32>, %w: tensor<192x768x16xf32>) -> tensor<128x3072xf32> {
  %r = topi.matmul(%x, %w) : (tensor<128x768xf32>, tensor<192x768x16xf32>) -> tensor<128x3072xf32>
  func.return %r : tensor<128x3072xf32>
}
