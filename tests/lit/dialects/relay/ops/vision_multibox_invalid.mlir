// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @steps(%x: tensor<1x3x4x4xf32>) {
  // expected-error@below {{[relay.vision.multibox_prior C3] 1 sizes, 1 ratios, 3 steps and 2 offsets; at least 1, 1, and 2 each are expected}}
  %y = relay.vision.multibox_prior(%x) {steps = [1.0, 1.0, 1.0]} : (tensor<1x3x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @empty(%x: tensor<1x3x4x0xf32>) {
  // expected-error@below {{[relay.vision.multibox_prior C4] spatial extent 0 is less than 1}}
  %y = relay.vision.multibox_prior(%x) : (tensor<1x3x4x0xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @boxes(%p: tensor<2x3x5xf32>, %l: tensor<2x16xf32>, %a: tensor<1x5x4xf32>) {
  // expected-error@below {{[relay.vision.multibox_transform_loc C6] predictions, and numbers of boxes 16 != 20}}
  %y = relay.vision.multibox_transform_loc(%p, %l, %a) : (tensor<2x3x5xf32>, tensor<2x16xf32>, tensor<1x5x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @variances(%p: tensor<2x3x5xf32>, %l: tensor<2x20xf32>, %a: tensor<1x5x4xf32>) {
  // expected-error@below {{[relay.vision.multibox_transform_loc C7]}}
  %y = relay.vision.multibox_transform_loc(%p, %l, %a) {variances = [1.0]} : (tensor<2x3x5xf32>, tensor<2x20xf32>, tensor<1x5x4xf32>) -> !relay.incomplete
  func.return
}
