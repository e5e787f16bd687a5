// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @groups(%x: tensor<2x9x4xf32>, %g: tensor<9xf32>) {
  // expected-error@below {{[relay.nn.group_norm C6] remainder of 9 channels in 4 groups: 1 != 0}}
  %r = relay.nn.group_norm(%x, %g, %g) {num_groups = 4} : (tensor<2x9x4xf32>, tensor<9xf32>, tensor<9xf32>) -> !relay.incomplete
  func.return
}
