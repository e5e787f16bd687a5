// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @channels_in(%a0: tensor<1x4x8x8xi8>, %a1: tensor<6x3x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d C3] the weight has 3 input channels, the data has 4 (groups = 1)}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<1x4x8x8xi8>, tensor<6x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @groups(%a0: tensor<1x4x8x8xi8>, %a1: tensor<5x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d C4] out-channels 5 modulo groups 2: 1 != 0}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) {groups = 2} : (tensor<1x4x8x8xi8>, tensor<5x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%a0: tensor<1x4x8x8xi8>, %a1: tensor<6x4x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d C5] kernel out-channels and channels differ: 6 != 5}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) {channels = 5} : (tensor<1x4x8x8xi8>, tensor<6x4x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @kernel_size(%a0: tensor<1x4x8x8xi8>, %a1: tensor<6x4x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d C6] kernel width and kernel_size differ: 3 != 2}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) {kernel_size = [3, 2]} : (tensor<1x4x8x8xi8>, tensor<6x4x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @window(%a0: tensor<1x4x8x8xi8>, %a1: tensor<6x4x9x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d C9] a window of 9 (dilation 1) is larger than the padded H extent 8}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<1x4x8x8xi8>, tensor<6x4x9x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @scales(%a0: tensor<1x4x8x8xi8>, %a1: tensor<6x4x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<4xf32>) {
  // expected-error@below {{[relay.qnn.conv2d C16] extents of operand #5 and of the result's channels: 4 != 6}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<1x4x8x8xi8>, tensor<6x4x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @blocks(%a0: tensor<1x4x8x8xi8>, %a1: tensor<3x4x3x3x2xi8>, %a2: tensor<i32>, %a3: tensor<6xi32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d C16] layout OIHW2o splits the axis along which the zero points of the weight lie}}
  %r = relay.qnn.conv2d(%a0, %a1, %a2, %a3, %a4, %a5) {kernel_layout = "OIHW2o"} : (tensor<1x4x8x8xi8>, tensor<3x4x3x3x2xi8>, tensor<i32>, tensor<6xi32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transposed_channels_in(%a0: tensor<1x3x8x8xi8>, %a1: tensor<4x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d_transpose C3] the weight has 4 input channels, the data has 3}}
  %r = relay.qnn.conv2d_transpose(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<1x3x8x8xi8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transposed_groups(%a0: tensor<1x4x8x8xi8>, %a1: tensor<4x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d_transpose C4] in-channels 4 modulo groups 3: 1 != 0}}
  %r = relay.qnn.conv2d_transpose(%a0, %a1, %a2, %a3, %a4, %a5) {groups = 3} : (tensor<1x4x8x8xi8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transposed_channels(%a0: tensor<1x4x8x8xi8>, %a1: tensor<4x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d_transpose C5] kernel out-channels and channels differ: 2 != 3}}
  %r = relay.qnn.conv2d_transpose(%a0, %a1, %a2, %a3, %a4, %a5) {channels = 3} : (tensor<1x4x8x8xi8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transposed_kernel_size(%a0: tensor<1x4x8x8xi8>, %a1: tensor<4x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d_transpose C6] kernel width and kernel_size differ: 3 != 2}}
  %r = relay.qnn.conv2d_transpose(%a0, %a1, %a2, %a3, %a4, %a5) {kernel_size = [3, 2]} : (tensor<1x4x8x8xi8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transposed_nothing(%a0: tensor<1x4x1x8xi8>, %a1: tensor<4x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d_transpose C9]}}
  %r = relay.qnn.conv2d_transpose(%a0, %a1, %a2, %a3, %a4, %a5) {padding = [2, 2]} : (tensor<1x4x1x8xi8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transposed_zero_points(%a0: tensor<1x4x8x8xi8>, %a1: tensor<4x2x3x3xi8>, %a2: tensor<i32>, %a3: tensor<3xi32>, %a4: tensor<f32>, %a5: tensor<f32>) {
  // expected-error@below {{[relay.qnn.conv2d_transpose C16] extents of operand #3 and of the weight's filters: 3 != 2}}
  %r = relay.qnn.conv2d_transpose(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<1x4x8x8xi8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<3xi32>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}
