// The settings of a PassContext as flags: levels, names of either kind, config.
// RUN: xrelay-opt %s -p FoldConstant,relay-fuse-ops --opt-level 1 | filecheck %s --check-prefix LEVEL1
// RUN: xrelay-opt %s -p FoldConstant,relay-fuse-ops --opt-level 1 --required-pass FoldConstant | filecheck %s --check-prefix FOLDED
// RUN: xrelay-opt %s -p FoldConstant,relay-fuse-ops --disabled-pass FuseOps,InferType | filecheck %s --check-prefix UNFUSED
// RUN: xrelay-opt %s --opt-level 2 | filecheck %s --check-prefix FOLDED
// RUN: xrelay-opt %s -p FuseOps --pass-config relay-fuse-ops.max-depth=1 | filecheck %s --check-prefix SHALLOW
// RUN: xrelay-opt %s -p FoldConstant,BackwardFoldScaleAxis --print-ir-after=FoldConstant -o %t 2>&1 | filecheck %s --check-prefix DUMP
// LEVEL1: relay.fused
// LEVEL1: relay.add
// FOLDED: relay.fused
// FOLDED-NOT: relay.add
// FOLDED: dense<4.000000e+00>
// UNFUSED-NOT: relay.fused
// UNFUSED: dense<4.000000e+00>
// UNFUSED-NOT: relay.fused
// SHALLOW-COUNT-2: relay.fused
// DUMP: // -----// IR after relay-fold-constant //----- //
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.add(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = relay.multiply(%x, %d) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = relay.exp(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}
