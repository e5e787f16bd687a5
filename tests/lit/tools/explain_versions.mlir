// RUN: xrelay explain versions %s | filecheck %s --check-prefix PLAIN
// RUN: xrelay explain versions %s --shapes n:1..32:8 | filecheck %s --check-prefix USUAL
// RUN: xrelay explain versions %s --shapes n:1..999:500 | filecheck %s --check-prefix MANY
// RUN: xrelay explain versions %s --shapes n:2..999:500 | filecheck %s --check-prefix MORE
// RUN: xrelay explain versions %S/Inputs/scores.mlir | filecheck %s --check-prefix OPEN
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay explain versions %s --op %y 2>&1 | filecheck %s --check-prefix USAGE

// PLAIN:      @fused_nn_contrib_dense_pack: @fused_nn_contrib_dense_pack_n1 for n = 1; no typical size is given: a product of 1 row
// PLAIN-NEXT: @fused_nn_softmax: one version, for all sizes
// USUAL:      @fused_nn_contrib_dense_pack: @fused_nn_contrib_dense_pack_n8 for n = 8; typical sizes: a product of 8 rows
// USUAL-NEXT: @fused_nn_contrib_dense_pack: @fused_nn_contrib_dense_pack_n1 for n = 1; not typical, but faster than a whole tile: a product of 1 row
// MANY:       @fused_nn_contrib_dense_pack: @fused_nn_contrib_dense_pack_n1 for n = 1; not typical, but faster than a whole tile: a product of 1 row
// MANY-NEXT:  @fused_nn_softmax: one version
// MORE:       @fused_nn_contrib_dense_pack: one version, for all sizes
// OPEN: @fused_nn_batch_matmul: @fused_nn_batch_matmul_s1 for s = 1 and any b, m; no typical size is given: a product of 1 row
// USAGE:      --op, --as-is, --json and --dot are for fusion
func.func @main(%x: tensor<?x16xf32, #relay.dims<n>>) -> tensor<?x32xf32, #relay.dims<n>> {
  %w = relay.constant dense<0.5> : tensor<32x16xf32>
  %y = relay.nn.dense(%x, %w) : (tensor<?x16xf32, #relay.dims<n>>, tensor<32x16xf32>) -> tensor<?x32xf32, #relay.dims<n>>
  %z = relay.nn.softmax(%y) : (tensor<?x32xf32, #relay.dims<n>>) -> tensor<?x32xf32, #relay.dims<n>>
  func.return %z : tensor<?x32xf32, #relay.dims<n>>
}
