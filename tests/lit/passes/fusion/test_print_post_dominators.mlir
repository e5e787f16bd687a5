// RUN: xrelay-opt %s -p test-print-post-dominators | filecheck %s
// RUN: xrelay-opt %s -p "test-print-post-dominators{max-depth=1}" | filecheck %s --check-prefix=DEPTH

// Numbers are in post-DFS order: %a, the first operand of the sum, before %b.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    %b = {{.*}}fusion.node = 3, fusion.post_dominator = 4, fusion.pattern = "kElemWise", fusion.group = 3, fusion.decision = "#3 nn.conv2d: not fused into #4 add; {{.*}} must not be in the group of another heavy op or reduction"
// CHECK-NEXT:    %a = {{.*}}fusion.node = 2, fusion.post_dominator = 4, fusion.pattern = "kElemWise", fusion.group = 2, fusion.decision = "#2 nn.conv2d: fused into the group of #4 add;
// CHECK-NEXT:    %s = {{.*}}fusion.node = 4, fusion.post_dominator = 5, {{.*}}fusion.group = 2
// CHECK-NEXT:    %r = {{.*}}fusion.node = 5, fusion.group = 2
// DEPTH-LABEL: func.func @residual
// DEPTH:         %a = {{.*}}"#2 nn.conv2d: not fused into #4 add; a group has at most max-depth nodes; the count would be 2, the limit is 1"
func.func @residual(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %b = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %a = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %s = relay.add(%a, %b) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.relu(%s) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return %r : tensor<1x8x4x4xf32>
}

// The edge into the reduction's broadcast separates the convolution from the product.
// CHECK-LABEL: func.func @diamond
// CHECK:         %c = {{.*}}fusion.node = 2, fusion.post_dominator = 5, fusion.pattern = "kCommReduce"
// CHECK-NEXT:    %m = {{.*}}fusion.node = 4, fusion.post_dominator = 5, fusion.pattern = "kBroadcast"
// CHECK-NEXT:    %r = {{.*}}fusion.node = 3, fusion.post_dominator = 5, fusion.pattern = "kElemWise"
// CHECK-NEXT:    %p = {{.*}}fusion.node = 5, fusion.group
func.func @diamond(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %m = relay.mean(%c) {axis = [2, 3], keepdims = true} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
  %r = relay.nn.relu(%c) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %p = relay.multiply(%r, %m) : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  func.return %p : tensor<1x8x4x4xf32>
}

// A branch's result is external; an op that only the branch uses belongs to it, wherever it is.
// CHECK-LABEL: func.func @branches
// CHECK:         %e = {{.*}}fusion.node = 2, fusion.post_dominator = 3, {{.*}}fusion.group = 2
// CHECK:           %n = {{.*}}fusion.node = 3, fusion.post_dominator = 4
// CHECK-NEXT:      %s = {{.*}}fusion.node = 4, fusion.group = 2
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %n = relay.negative(%e) : (tensor<4xf32>) -> tensor<4xf32>
    %s = relay.sigmoid(%n) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
