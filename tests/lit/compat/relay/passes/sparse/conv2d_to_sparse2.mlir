// RUN: xrelay-opt %s -p 'relay-conv2d-to-sparse2{layout=NCHW kernel-size=1 blocksize=2,1 sparsity-threshold=0.5}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-conv2d-to-sparse2{layout=NCHW kernel-size=1 blocksize=2,1 sparsity-threshold=0.6}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK
// RUN: xrelay-opt %s -p 'relay-conv2d-to-sparse2{layout=NCHW kernel-size=1 blocksize=3,1}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix BLOCKS
// RUN: not xrelay-opt %s -p 'relay-conv2d-to-sparse2{blocksize=3,0}' 2>&1 | filecheck %s --check-prefix NONE

// NONE: error: relay-conv2d-to-sparse2: blocksize is [3, 0], it must be two positive numbers

// CHECK-LABEL: @halves(
func.func @halves(%x: tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %w = relay.constant dense<[[[[1.0]], [[0.0]]], [[[2.0]], [[0.0]]]]> : tensor<2x2x1x1xf32>
  // REMARK: relay.nn.conv2d: only 50% of its weight is in zero blocks
  // BLOCKS: relay.nn.conv2d: blocks of 3 by 1 do not divide its weight
  // CHECK: %[[V:.*]] = relay.constant dense<{{.*}}1.000000e+00], [2.000000e+00{{.*}}> : tensor<1x2x1xf32>
  // CHECK: %[[I:.*]] = relay.constant dense<0> : tensor<1xi32>
  // CHECK: %[[P:.*]] = relay.constant dense<[0, 1]> : tensor<2xi32>
  // CHECK: relay.nn.sparse_conv2d(%x, %[[V]], %[[I]], %[[P]]) {layout = "NCHW"} : ({{.*}}) -> tensor<1x2x5x5xf32>
  %y = relay.nn.conv2d(%x, %w) : (tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x5xf32>
  func.return %y : tensor<1x2x5x5xf32>
}

// CHECK-LABEL: @a_parameter(
func.func @a_parameter(%x: tensor<1x2x5x5xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x5x5xf32> {
  // REMARK: relay.nn.conv2d: its weight is not a constant in memory
  // CHECK: relay.nn.conv2d
  %y = relay.nn.conv2d(%x, %w) : (tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x5xf32>
  func.return %y : tensor<1x2x5x5xf32>
}
