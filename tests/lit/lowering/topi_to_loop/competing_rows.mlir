// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -l1=49152 -num-threads=1"}' | filecheck %s

// Rows are 12288 bytes apart, so their lines compete for the 12 ways of a set of the L1 cache. A tile has 9 rows, and the
// other ways hold lines of the weight.
// CHECK-LABEL: func.func private @competing
// CHECK-SAME: 9 rows x 3 vectors
func.func private @competing(%x: tensor<128x3072xf32>, %w: tensor<48x3072x16xf32>) -> tensor<128x768xf32> {
  %r = topi.matmul(%x, %w) : (tensor<128x3072xf32>, tensor<48x3072x16xf32>) -> tensor<128x768xf32>
  func.return %r : tensor<128x768xf32>
}

// CHECK-LABEL: func.func private @others
// CHECK-SAME: 13 rows x 2 vectors
func.func private @others(%x: tensor<128x3056xf32>, %w: tensor<48x3056x16xf32>) -> tensor<128x768xf32> {
  %r = topi.matmul(%x, %w) : (tensor<128x3056xf32>, tensor<48x3056x16xf32>) -> tensor<128x768xf32>
  func.return %r : tensor<128x768xf32>
}
