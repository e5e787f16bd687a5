// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @size(%x: tensor<1x3x4x4xf32>, %r: tensor<2x5xf32>) {
  // expected-error@below {{[relay.vision.roi_pool C2] pooled_size must have two numbers, found [2, 2, 2]}}
  %y = relay.vision.roi_pool(%x, %r) {pooled_size = [2, 2, 2], spatial_scale = 1.0} : (tensor<1x3x4x4xf32>, tensor<2x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @empty(%x: tensor<1x3x0x4xf32>, %r: tensor<2x5xf32>) {
  // expected-error@below {{[relay.vision.roi_align C3] spatial extent of (1, 3, 0, 4): 0 is less than 1}}
  %y = relay.vision.roi_align(%x, %r) {pooled_size = [2, 2], spatial_scale = 1.0} : (tensor<1x3x0x4xf32>, tensor<2x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @corners(%x: tensor<1x3x4x4xf32>, %r: tensor<2x4xf32>) {
  // expected-error@below {{[relay.vision.roi_align C4] numbers of a region 4 != 5}}
  %y = relay.vision.roi_align(%x, %r) {pooled_size = [2, 2], spatial_scale = 1.0} : (tensor<1x3x4x4xf32>, tensor<2x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @whole(%x: tensor<1x3x4x4xf32>, %r: tensor<2x5xi32>) {
  // expected-error@below {{[relay.vision.roi_pool C1] the element type must be a float, found i32}}
  %y = relay.vision.roi_pool(%x, %r) {pooled_size = [2, 2], spatial_scale = 1.0} : (tensor<1x3x4x4xf32>, tensor<2x5xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @block(%x: tensor<1x3x4x4xf32>) {
  // expected-error@below {{[relay.vision.yolo_reorg C3] channels 3 modulo 4: 3 != 0}}
  %y = relay.vision.yolo_reorg(%x) {stride = 2} : (tensor<1x3x4x4xf32>) -> !relay.incomplete
  func.return
}
