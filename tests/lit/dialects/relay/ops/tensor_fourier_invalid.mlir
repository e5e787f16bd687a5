// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @parts(%x: tensor<2x5xf32>, %y: tensor<2x4xf32>) {
  // expected-error@below {{[relay.dft C4] parts of shapes (2, 5) and (2, 4)}}
  %z = relay.dft(%x, %y) : (tensor<2x5xf32>, tensor<2x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @long(%x: tensor<9xf32>, %w: tensor<4xf32>) {
  // expected-error@below {{[relay.stft C6] windows of 4 elements in frames of 3}}
  %z = relay.stft(%x, %w) {n_fft = 3, hop_length = 1, win_length = 4} : (tensor<9xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @window(%x: tensor<9xf32>, %w: tensor<2xf32>) {
  // expected-error@below {{[relay.stft C6] elements of the window and win_length 2 != 3}}
  %z = relay.stft(%x, %w) {n_fft = 4, hop_length = 1, win_length = 3} : (tensor<9xf32>, tensor<2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @short(%x: tensor<3xf32>, %w: tensor<3xf32>) {
  // expected-error@below {{[relay.stft C7] elements of the signal, and of a frame, 3 is less than 4}}
  %z = relay.stft(%x, %w) {n_fft = 4, hop_length = 1, win_length = 3} : (tensor<3xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}
