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
