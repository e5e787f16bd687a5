// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @factor(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.nn.celu C2]}}
  %r = relay.nn.celu(%x) {alpha = 0.0} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}
