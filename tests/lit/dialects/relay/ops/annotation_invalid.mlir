// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @stop_fusion(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.annotation.stop_fusion C0] result type tensor<2x3xf32> does not follow}}
  %r = relay.annotation.stop_fusion(%x) : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  func.return
}
