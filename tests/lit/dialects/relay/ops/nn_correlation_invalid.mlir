// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @shapes(%x: tensor<1x3x6x7xf32>, %y: tensor<1x3x6x6xf32>) {
  // expected-error@below {{[relay.nn.correlation C6] images of shapes (1, 3, 6, 7) and (1, 3, 6, 6)}}
  %z = relay.nn.correlation(%x, %y) : (tensor<1x3x6x7xf32>, tensor<1x3x6x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @even(%x: tensor<1x3x6x7xf32>, %y: tensor<1x3x6x7xf32>) {
  // expected-error@below {{[relay.nn.correlation C7] kernel_size must be odd, found 2}}
  %z = relay.nn.correlation(%x, %y) {kernel_size = 2} : (tensor<1x3x6x7xf32>, tensor<1x3x6x7xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @room(%x: tensor<1x3x6x7xf32>, %y: tensor<1x3x6x7xf32>) {
  // expected-error@below {{[relay.nn.correlation C8] elements with zeros, and of windows and shifts, 6 is less than 7}}
  %z = relay.nn.correlation(%x, %y) {max_displacement = 3} : (tensor<1x3x6x7xf32>, tensor<1x3x6x7xf32>) -> !relay.incomplete
  func.return
}
