// The results before and after each pass, compared on random inputs; what has left relay cannot be.
// RUN: xrelay-opt %s -p FoldConstant,FuseOps,relay-outline-fused,convert-relay-to-topi --check-numerics -o %t 2>&1 | filecheck %s --check-prefix KEPT

// KEPT: numerics: results kept by relay-fold-constant, relay-fuse-ops, relay-outline-fused
// KEPT-NEXT: numerics: convert-relay-to-topi not checked:
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.add(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = relay.multiply(%x, %d) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return %a : tensor<4x8xf32>
}
