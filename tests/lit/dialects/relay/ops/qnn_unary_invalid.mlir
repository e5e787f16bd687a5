// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @alpha(%a0: tensor<4xi8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.leaky_relu C5] alpha must be a finite number, found inf}}
  %r = relay.qnn.leaky_relu(%a0, %a1, %a2, %a3, %a4) {alpha = 1.0e999} : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}
