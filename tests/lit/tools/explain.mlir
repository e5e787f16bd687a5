// RUN: xrelay explain fusion %s --as-is | filecheck %s --check-prefix GROUPS
// RUN: xrelay explain fusion %s --as-is --op %r | filecheck %s --check-prefix STORY
// RUN: xrelay explain fusion %s --as-is --json --op %r | filecheck %s --check-prefix JSON
// RUN: xrelay explain fusion %s --as-is --dot | filecheck %s --check-prefix DOT
// RUN: xrelay explain fusion %s | filecheck %s --check-prefix OPTIMIZED

// Two convolutions are added: the sum fuses with its first operand.
// GROUPS:      @main: 5 ops in 3 kernels
// GROUPS-NEXT:   fused_nn_conv2d_add_nn_relu (anchor nn.conv2d, kOutEWiseFusable)
// GROUPS-NEXT:     %l nn.conv2d [{{.*}}explain.mlir:{{[0-9]+}}:3]
// GROUPS-NEXT:     %y add [
// GROUPS-NEXT:     %z nn.relu [
// GROUPS-NEXT:   fused_nn_conv2d (anchor nn.conv2d, kOutEWiseFusable)
// GROUPS-NEXT:     %r nn.conv2d
// GROUPS-NEXT:   fused_sum (kCommReduce)
// GROUPS-NEXT:     %s sum
// GROUPS:      @arguments: 2 ops in 1 kernel{{$}}
// STORY:      %r nn.conv2d [{{.*}}], node #{{[0-9]+}} of @main
// STORY-NEXT:   pattern: kOutEWiseFusable
// STORY-NEXT:   kernel: fused_nn_conv2d, alone
// STORY-NEXT:   post-dominator: %y add, worst pattern on the paths: kElemWise
// STORY-NEXT:   decision: not fused into it
// STORY-NEXT:   rule: a heavy op fuses with the elementwise and broadcasting ops of its own shape that follow
// STORY-NEXT:   blocked by: the node %y add (kBroadcast), in the group of %l nn.conv2d
// STORY-NEXT:   to change it: %y add must not be in the group of %l nn.conv2d: relay.fuse_with = "add" on this op lets
// JSON:   "version": 1
// JSON:   "op": "nn.conv2d"
// JSON:   "post_dominator": {{[0-9]+}},
// JSON-NEXT: "fused": false,
// JSON-NEXT: "rule": "anchor",
// JSON:   "blocked_by": "the node %y add (kBroadcast), in the group of %l nn.conv2d",
// DOT:      digraph fusion {
// DOT:        subgraph cluster_0_0 {
// DOT-NEXT:     label="fused_nn_conv2d_add_nn_relu";
// DOT:        [[L:b0_[0-9]+]] -> [[Y:b0_[0-9]+]] [label="kElemWise"];
// OPTIMIZED: @main: {{[0-9]+}} ops in {{[0-9]+}} kernels
func.func @main(%x: tensor<1x8x6x6xf32>, %v: tensor<8x8x1x1xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<f32> {
  %l = relay.nn.conv2d(%x, %v) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.add(%l, %r) : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %z = relay.nn.relu(%y) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %s = relay.sum(%z) : (tensor<1x8x6x6xf32>) -> tensor<f32>
  func.return %s : tensor<f32>
}

func.func @arguments(%x: tensor<4xf32>, %v: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.add(%x, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.multiply(%a, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
