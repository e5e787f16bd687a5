// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<3x4x4xf32>, %b: tensor<2x4xf32>, %i: tensor<2xi32>) {
  // expected-error@below {{[relay.image.crop_and_resize C6] images have four axes, found (3, 4, 4)}}
  %y = relay.image.crop_and_resize(%x, %b, %i) {crop_size = [2, 2]} : (tensor<3x4x4xf32>, tensor<2x4xf32>, tensor<2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @boxes(%x: tensor<1x3x4x4xf32>, %b: tensor<2x4xf32>, %i: tensor<3xi32>) {
  // expected-error@below {{[relay.image.crop_and_resize C7] boxes of shape (2, 4) with numbers of shape (3)}}
  %y = relay.image.crop_and_resize(%x, %b, %i) {crop_size = [2, 2]} : (tensor<1x3x4x4xf32>, tensor<2x4xf32>, tensor<3xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @size(%x: tensor<1x3x4x4xf32>, %b: tensor<2x4xf32>, %i: tensor<2xi32>) {
  // expected-error@below {{[relay.image.crop_and_resize C8] crop_size must have two numbers, found [2]}}
  %y = relay.image.crop_and_resize(%x, %b, %i) {crop_size = [2]} : (tensor<1x3x4x4xf32>, tensor<2x4xf32>, tensor<2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matrix(%x: tensor<2x3x3xf32>) {
  // expected-error@below {{[relay.image.affine_grid C4] rows of a matrix 3 != 2}}
  %y = relay.image.affine_grid(%x) {target_shape = [3, 4]} : (tensor<2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @target(%x: tensor<2x2x3xf32>) {
  // expected-error@below {{[relay.image.affine_grid C5] target_shape must have two numbers, found [3]}}
  %y = relay.image.affine_grid(%x) {target_shape = [3]} : (tensor<2x2x3xf32>) -> !relay.incomplete
  func.return
}
