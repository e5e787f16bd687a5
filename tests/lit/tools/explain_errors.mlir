// RUN: sh %S/Inputs/exit_code.sh 1 xrelay explain fusion %s --op nn.rel 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: sh %S/Inputs/exit_code.sh 1 xrelay explain fusion %s --max-depth 0 2>&1 | filecheck %s --check-prefix BAD
// RUN: sh %S/Inputs/exit_code.sh 1 xrelay explain fusion %s --shapes x:4 2>&1 | filecheck %s --check-prefix SHAPES
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay explain fusion %s --dot --op %y 2>&1 | filecheck %s --check-prefix USAGE

// Each error is one line with a help.
// UNKNOWN: error: no op is called 'nn.rel'; help: did you mean 'nn.relu'?
// BAD: max-depth is 0, it must be at least 1
// SHAPES: shapes{{.*}}inputs{{.*}}ONNX{{.*}}models
// USAGE: error: --dot draws whole functions; help: leave out --op
func.func @main(%x: tensor<1x8x6x6xf32>, %v: tensor<8x8x1x1xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<f32> {
  %l = relay.nn.conv2d(%x, %v) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %r = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.add(%l, %r) : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %z = relay.nn.relu(%y) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %s = relay.sum(%z) : (tensor<1x8x6x6xf32>) -> tensor<f32>
  func.return %s : tensor<f32>
}
