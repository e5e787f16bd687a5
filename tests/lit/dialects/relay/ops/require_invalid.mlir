// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<2x3xf32>) {
  // expected-error@below {{[relay.require C0]}}
  %r = relay.require(%x) : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @never(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.require C1] 3 >= 4 (rows) cannot hold here; help: it is false for all sizes of the names}}
  %r = relay.require(%x) {demands = #relay.requirements<3 >= 4 "C1 rows">} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
