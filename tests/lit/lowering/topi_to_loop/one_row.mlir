// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s --check-prefix=ALONE
// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"}' | filecheck %s --check-prefix=SHARED

// A thread adds up all columns of one row at once; two threads have half of the columns each.
// ALONE-LABEL:  func.func private @one_row
// ALONE-SAME:   1 rows x 2 vectors of 16 columns = 2 accumulators
// SHARED-LABEL: func.func private @one_row
// SHARED-SAME:  1 rows x 1 vectors of 16 columns = 1 accumulators
func.func private @one_row(%x: tensor<1x2400xf32>, %w: tensor<2x2400x16xf32>) -> tensor<1x32xf32> attributes {relay.primitive} {
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<1x2400xf32>, tensor<2x2400x16xf32>) -> tensor<1x32xf32>
  func.return %y : tensor<1x32xf32>
}

// A row is multiplied by a matrix of long rows: a thread reads eight of them at a time. Two threads share the columns.
// ALONE-LABEL:  func.func private @row_by_matrix
// ALONE-SAME:   batch_matmul adds 8 rows of j at a time to results in the L1 cache
// SHARED-LABEL: func.func private @row_by_matrix
// SHARED-SAME:  16 lanes along j;
// SHARED-SAME:  parallel over 48 iterations of
func.func private @row_by_matrix(%x: tensor<1x768xf32>, %y: tensor<768x3072xf32>) -> tensor<1x3072xf32> attributes {relay.primitive} {
  %r = relay.nn.matmul(%x, %y) : (tensor<1x768xf32>, tensor<768x3072xf32>) -> tensor<1x3072xf32>
  func.return %r : tensor<1x3072xf32>
}

// Thirteen rows are no multiple of rows that are read at a time. The results of a piece of a row are in registers.
// ALONE-LABEL: func.func private @few_rows_by_matrix
// ALONE-SAME:  16 lanes along j;
// ALONE-SAME:  batch_matmul accumulates in registers at batch_matmul_write_1_o
func.func private @few_rows_by_matrix(%x: tensor<1x13xf32>, %y: tensor<13x3072xf32>) -> tensor<1x3072xf32> attributes {relay.primitive} {
  %r = relay.nn.matmul(%x, %y) : (tensor<1x13xf32>, tensor<13x3072xf32>) -> tensor<1x3072xf32>
  func.return %r : tensor<1x3072xf32>
}
