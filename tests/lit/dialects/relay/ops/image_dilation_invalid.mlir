// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @layout(%x: tensor<1x3x6x6xf32>, %w: tensor<3x3x3xf32>) {
  // expected-error@below {{[relay.image.dilation2d C7] the kernel layout of NCHW is IHW, found 'HWI'}}
  %y = relay.image.dilation2d(%x, %w) {kernel_layout = "HWI"} : (tensor<1x3x6x6xf32>, tensor<3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%x: tensor<1x3x6x6xf32>, %w: tensor<2x3x3xf32>) {
  // expected-error@below {{[relay.image.dilation2d C8] channels of data and weight 3 != 2}}
  %y = relay.image.dilation2d(%x, %w) : (tensor<1x3x6x6xf32>, tensor<2x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @window(%x: tensor<1x3x6x6xf32>, %w: tensor<3x7x3xf32>) {
  // expected-error@below {{[relay.image.dilation2d C9] elements with zeros, and of the window, 6 is less than 7}}
  %y = relay.image.dilation2d(%x, %w) : (tensor<1x3x6x6xf32>, tensor<3x7x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @bools(%x: tensor<1x3x6x6xi1>, %w: tensor<3x3x3xi1>) {
  // expected-error@below {{[relay.image.dilation2d C10] booleans are not added}}
  %y = relay.image.dilation2d(%x, %w) : (tensor<1x3x6x6xi1>, tensor<3x3x3xi1>) -> !relay.incomplete
  func.return
}
