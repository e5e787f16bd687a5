// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @channels(%p: tensor<1x4x3x3xf32>, %b: tensor<1x6x3x3xf32>, %i: tensor<1x3xf32>) {
  // expected-error@below {{[relay.vision.proposal C6] channels of bbox_pred 6 != 8}}
  %y = relay.vision.proposal(%p, %b, %i) {scales = [8.0], ratios = [0.5, 1.0]} : (tensor<1x4x3x3xf32>, tensor<1x6x3x3xf32>, tensor<1x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @places(%p: tensor<1x4x3x3xf32>, %b: tensor<1x8x3x2xf32>, %i: tensor<1x3xf32>) {
  // expected-error@below {{[relay.vision.proposal C6] places of bbox_pred and cls_prob 2 != 3}}
  %y = relay.vision.proposal(%p, %b, %i) {scales = [8.0], ratios = [0.5, 1.0]} : (tensor<1x4x3x3xf32>, tensor<1x8x3x2xf32>, tensor<1x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @numbers(%p: tensor<1x4x3x3xf32>, %b: tensor<1x8x3x3xf32>, %i: tensor<1x4xf32>) {
  // expected-error@below {{[relay.vision.proposal C7] numbers of im_info 4 != 3}}
  %y = relay.vision.proposal(%p, %b, %i) {scales = [8.0], ratios = [0.5, 1.0]} : (tensor<1x4x3x3xf32>, tensor<1x8x3x3xf32>, tensor<1x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @ratios(%p: tensor<1x4x3x3xf32>, %b: tensor<1x8x3x3xf32>, %i: tensor<1x3xf32>) {
  // expected-error@below {{[relay.vision.proposal C8] scales [8.0] and ratios [0.5, 0.0]}}
  %y = relay.vision.proposal(%p, %b, %i) {scales = [8.0], ratios = [0.5, 0.0]} : (tensor<1x4x3x3xf32>, tensor<1x8x3x3xf32>, tensor<1x3xf32>) -> !relay.incomplete
  func.return
}
