// RUN: xrelay-opt %s -p relay-fuse-ops | filecheck %s

// Gathers are injective, as in Relay: they fuse with surrounding elementwise ops, but not into a reduction.
// CHECK-LABEL: func.func @gathers
// CHECK: relay.fused @fused_exp_take_nn_relu
// CHECK: relay.fused @fused_gather(
// CHECK: relay.fused @fused_sum(
func.func @gathers(%x: tensor<8x4xf32>, %i: tensor<3xi64>, %j: tensor<8x2xi64>) -> (tensor<3x4xf32>, tensor<8xf32>) {
  %e = relay.exp(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = relay.take(%e, %i) {axis = 0, mode = "raise"} : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %r = relay.nn.relu(%t) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %g = relay.gather(%x, %j) {axis = 1} : (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
  %s = relay.sum(%g) {axis = [1]} : (tensor<8x2xf32>) -> tensor<8xf32>
  func.return %r, %s : tensor<3x4xf32>, tensor<8xf32>
}

// A scatter is opaque: a separate kernel.
// CHECK-LABEL: func.func @scatter
// CHECK: relay.fused @fused_exp
// CHECK: relay.fused @fused_scatter_elements
// CHECK: relay.fused @fused_nn_relu
func.func @scatter(%x: tensor<8x4xf32>, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>) -> tensor<8x4xf32> {
  %e = relay.exp(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = relay.scatter_elements(%e, %i, %u) : (tensor<8x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %r = relay.nn.relu(%t) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}
