// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @window(%a0: tensor<1x4x4x3xui8>, %a1: tensor<f32>, %a2: tensor<i32>, %a3: tensor<f32>, %a4: tensor<i32>) {
  // expected-error@below {{[relay.qnn.avg_pool2d C9] a window of 5 (dilation 1) is larger than the padded H extent 4}}
  %r = relay.qnn.avg_pool2d(%a0, %a1, %a2, %a3, %a4) {pool_size = [5, 2]} : (tensor<1x4x4x3xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> !relay.incomplete
  func.return
}
