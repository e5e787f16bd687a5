// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @sizes(%x: tensor<1x3x4x5xf32>) {
  // expected-error@below {{[relay.nn.adaptive_avg_pool2d C3]}}
  %r = relay.nn.adaptive_avg_pool2d(%x) {output_size = [1, 2, 3]} : (tensor<1x3x4x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nothing(%x: tensor<1x3x0x5xf32>) {
  // expected-error@below {{[relay.nn.adaptive_max_pool2d C4] axis H of 2 windows: 0 is less than 1}}
  %r = relay.nn.adaptive_max_pool2d(%x) {output_size = [2]} : (tensor<1x3x0x5xf32>) -> !relay.incomplete
  func.return
}
