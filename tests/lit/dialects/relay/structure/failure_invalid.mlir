// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @of() {
  // expected-error@below {{[relay.fail C1] the result must be a tensor, a sequence or an optional, found f32}}
  %r = relay.fail() {message = "no value", of = f32} : () -> !relay.incomplete
  func.return
}

// -----

func.func @message() {
  // expected-error@below {{[relay.fail C2] the message is empty}}
  %r = relay.fail() {message = "", of = tensor<4xf32>} : () -> !relay.incomplete
  func.return
}
