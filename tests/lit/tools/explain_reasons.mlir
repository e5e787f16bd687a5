// RUN: xrelay explain fusion %s --as-is --op nn.relu | filecheck %s --check-prefix EDGE
// RUN: xrelay explain fusion %s --as-is --max-depth 2 --op %y | filecheck %s --check-prefix DEPTH
// RUN: xrelay explain fusion %s --as-is --max-function-args 3 --op %a | filecheck %s --check-prefix ARGS
// RUN: xrelay explain fusion %s --as-is -O 0 --op %y | filecheck %s --check-prefix LEVEL
// RUN: xrelay explain fusion %s --as-is --op relay.exp | filecheck %s --check-prefix STOP
// RUN: xrelay explain fusion %s --as-is --op %hinted | filecheck %s --check-prefix HINT

// The node, the edge or the limit that prevents fusion, and a hint for the user.
// EDGE:   kernel: fused_nn_conv2d_add_nn_relu, with %l nn.conv2d, %y add
// EDGE:   post-dominator: %s sum, worst pattern on the paths: kCommReduce
// EDGE:   decision: not fused into it
// EDGE:   blocked by: the edge from %z nn.relu into %s sum, which is kCommReduce
// EDGE:   to change it: %s sum must have a simpler pattern, best elementwise
// DEPTH:  blocked by: the limit: 3 found, 2 allowed
// DEPTH:  to change it: raise max-depth to 3 or more
// ARGS:   blocked by: the limit: 3 found, 2 allowed
// ARGS:   to change it: raise max-function-args by 1 or more
// LEVEL:  rule: optimisation level 0 disables fusion
// LEVEL:  to change it: raise the optimisation level to 1 or more
// STOP:   blocked by: the edge from %e exp into %stop annotation.stop_fusion, which is kOpaque
// STOP:   to change it: remove %stop annotation.stop_fusion
// HINT:   kernel: fused_nn_conv2d_add, with %t add
// HINT:   hint: "add": visited first, and fused
func.func @main(%x: tensor<1x8x6x6xf32>, %v: tensor<8x8x1x1xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<f32> {
  %l = relay.nn.conv2d(%x, %v) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.add(%l, %r) : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %z = relay.nn.relu(%y) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %s = relay.sum(%z) : (tensor<1x8x6x6xf32>) -> tensor<f32>
  func.return %s : tensor<f32>
}

func.func @stopped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %stop = relay.annotation.stop_fusion(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %n = relay.negative(%stop) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}

func.func @hints(%x: tensor<1x8x6x6xf32>, %v: tensor<8x8x1x1xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32> {
  %plain = relay.nn.conv2d(%x, %v) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %hinted = relay.nn.conv2d(%x, %w) {relay.fuse_with = "add"} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %t = relay.add(%plain, %hinted) : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  func.return %t : tensor<1x8x6x6xf32>
}

func.func @arguments(%x: tensor<4xf32>, %v: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.add(%x, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.multiply(%a, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
