// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @widths(%x: tensor<2x3xf32>) {
  // expected-error@below {{[relay.nn.mirror_pad C2]}}
  %y = relay.nn.mirror_pad(%x) {pad_width = [1, 1]} : (tensor<2x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @far(%x: tensor<2x3xf32>) {
  // expected-error@below {{[relay.nn.mirror_pad C3]}}
  %y = relay.nn.mirror_pad(%x) {pad_width = [0, 0, 3, 0], mode = "REFLECT"} : (tensor<2x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @shapes(%x: tensor<2x1xf32>, %b: tensor<3x4xf32>) {
  // expected-error@below {{[relay.nn.fifo_buffer C3] data of shape (2, 1) for a buffer of shape (3, 4)}}
  %y = relay.nn.fifo_buffer(%x, %b) {axis = 1} : (tensor<2x1xf32>, tensor<3x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @room(%x: tensor<2x5xf32>, %b: tensor<2x4xf32>) {
  // expected-error@below {{[relay.nn.fifo_buffer C4] elements of the buffer, and of the data, 4 is less than 5}}
  %y = relay.nn.fifo_buffer(%x, %b) {axis = 1} : (tensor<2x5xf32>, tensor<2x4xf32>) -> !relay.incomplete
  func.return
}
