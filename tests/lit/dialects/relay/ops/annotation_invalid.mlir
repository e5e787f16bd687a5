// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @stop_fusion(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.annotation.stop_fusion C0]}}
  %r = relay.annotation.stop_fusion(%x) : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @checkpoint(%x: tensor<2x3x4xf32>) {
  // expected-error@below {{[relay.annotation.checkpoint C0]}}
  %r = relay.annotation.checkpoint(%x) : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @begin_of_another_type(%x: tensor<2xf32>) {
  // expected-error@below {{[relay.annotation.compiler_begin C0]}}
  %r = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"} : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @begin_without_a_compiler(%x: tensor<2xf32>) {
  // expected-error@below {{[relay.annotation.compiler_begin C1] the compiler must have a name, found an empty text}}
  %r = relay.annotation.compiler_begin(%x) {compiler = ""} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @end_of_another_type(%x: tensor<2xf32>) {
  // expected-error@below {{[relay.annotation.compiler_end C0]}}
  %r = relay.annotation.compiler_end(%x) {compiler = "ccompiler"} : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @end_without_a_compiler(%x: tensor<2xf32>) {
  // expected-error@below {{[relay.annotation.compiler_end C1] the compiler must have a name, found an empty text}}
  %r = relay.annotation.compiler_end(%x) {compiler = ""} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}
