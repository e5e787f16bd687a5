// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_region(%x: tensor<1x3x4x4xf32>) {
  // expected-error@below {{[relay.image.resize2d C8] a region of 2 axes has 4 numbers, roi is [0.0, 1.0]}}
  %r = relay.image.resize2d(%x) {size = [2, 2], roi = [0.0, 1.0], coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nothing_to_resize(%x: tensor<1x3x0x4xf32>) {
  // expected-error@below {{[relay.image.resize2d C9] H extent of the data 0 is less than 1}}
  %r = relay.image.resize2d(%x) {size = [2, 2]} : (tensor<1x3x0x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @booleans(%x: tensor<1x3x4x4xi1>) {
  // expected-error@below {{[relay.image.resize2d C10] weighted sums of booleans are not supported}}
  %r = relay.image.resize2d(%x) {size = [2, 2]} : (tensor<1x3x4x4xi1>) -> !relay.incomplete
  func.return
}

// -----

func.func @sizes(%x: tensor<4x4xf32>, %s: tensor<1xi64>, %c: tensor<2xf32>, %r: tensor<4xf32>) {
  // expected-error@below {{[relay.dyn.image.resize C7] the sizes of 2 axes are tensor<1xi64>}}
  %y = relay.dyn.image.resize(%x, %s, %c, %r) {axes = [0, 1]} : (tensor<4x4xf32>, tensor<1xi64>, tensor<2xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @scales(%x: tensor<4x4xf32>, %s: tensor<2xi64>, %c: tensor<2xf64>, %r: tensor<4xf32>) {
  // expected-error@below {{[relay.dyn.image.resize C8] the scales of 2 axes are 2 numbers of f32, found tensor<2xf64>}}
  %y = relay.dyn.image.resize(%x, %s, %c, %r) {axes = [0, 1]} : (tensor<4x4xf32>, tensor<2xi64>, tensor<2xf64>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @regions(%x: tensor<4x4xf32>, %s: tensor<2xi64>, %c: tensor<2xf32>, %r: tensor<2xf32>) {
  // expected-error@below {{[relay.dyn.image.resize C8] the regions of 2 axes are 4 numbers of f32, found tensor<2xf32>}}
  %y = relay.dyn.image.resize(%x, %s, %c, %r) {axes = [0, 1]} : (tensor<4x4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @nothing(%x: tensor<0x4xf32>, %s: tensor<1xi64>, %c: tensor<1xf32>, %r: tensor<2xf32>) {
  // expected-error@below {{[relay.dyn.image.resize C9] extent of axis 0 0 is less than 1}}
  %y = relay.dyn.image.resize(%x, %s, %c, %r) {axes = [0]} : (tensor<0x4xf32>, tensor<1xi64>, tensor<1xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @weights_of_booleans(%x: tensor<4xi1>, %s: tensor<1xi64>, %c: tensor<1xf32>, %r: tensor<2xf32>) {
  // expected-error@below {{[relay.dyn.image.resize C10] weighted sums of booleans are not supported}}
  %y = relay.dyn.image.resize(%x, %s, %c, %r) {axes = [0]} : (tensor<4xi1>, tensor<1xi64>, tensor<1xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_weights(%x: tensor<4xf32>, %s: tensor<1xi64>, %c: tensor<1xf32>, %r: tensor<2xf32>) {
  // expected-error@below {{[relay.dyn.image.resize C11] antialias with method nearest_neighbor, which has no weights}}
  %y = relay.dyn.image.resize(%x, %s, %c, %r) {axes = [0], method = "nearest_neighbor", antialias = true} : (tensor<4xf32>, tensor<1xi64>, tensor<1xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}
