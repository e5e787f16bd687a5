// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<3x4x4xf32>) {
  // expected-error@below {{[relay.nn.upsampling C3] data of shape (3, 4, 4) for layout NCHW}}
  %y = relay.nn.upsampling(%x) : (tensor<3x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @factor(%x: tensor<1x3x4x4xf32>) {
  // expected-error@below {{[relay.nn.upsampling C4] factors of [1.0, 0.0]}}
  %y = relay.nn.upsampling(%x) {scale_w = 0.0} : (tensor<1x3x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @named(%x: tensor<1x3x4x4x?xf32>) {
  // expected-error@below {{[relay.nn.upsampling3d C3]}}
  %y = relay.nn.upsampling3d(%x) : (tensor<1x3x4x4x?xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @volume(%x: tensor<1x3x4x4x4xf32>) {
  // expected-error@below {{[relay.nn.upsampling3d C4] factors of [-1.0, 1.0, 1.0]}}
  %y = relay.nn.upsampling3d(%x) {scale_d = -1.0} : (tensor<1x3x4x4x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @weighted_booleans(%x: tensor<1x3x4x4xi1>) {
  // expected-error@below {{[relay.nn.upsampling C6]}}
  %y = relay.nn.upsampling(%x) {scale_h = 2.0, method = "bilinear"} : (tensor<1x3x4x4xi1>) -> !relay.incomplete
  func.return
}

// -----

func.func @weighted_volume_of_booleans(%x: tensor<1x3x4x4x4xi1>) {
  // expected-error@below {{[relay.nn.upsampling3d C6]}}
  %y = relay.nn.upsampling3d(%x) {scale_d = 2.0, method = "trilinear"} : (tensor<1x3x4x4x4xi1>) -> !relay.incomplete
  func.return
}
