// RUN: xrelay-opt %s -p relay-dissolve-compiler-regions | filecheck %s
// RUN: xrelay-opt %s -p relay-dissolve-compiler-regions,relay-inline,relay-fuse-ops | filecheck %s --check-prefix=FUSED

// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %y = func.call @tvmgen_default_c_main_0(%x)
// CHECK-NEXT:    %z = relay.negative(%y)
// CHECK-NEXT:    func.return %z
// FUSED:         relay.fused @fused_exp_negative(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @tvmgen_default_c_main_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%y) {compiler = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.negative(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.annotation.compiler_end(%z) {compiler = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}

// CHECK:       func.func private @tvmgen_default_c_main_0(%a: tensor<4xf32>) -> tensor<4xf32> {
func.func private @tvmgen_default_c_main_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "c", Primitive = 1 : i64, Inline = 1 : i64, global_symbol = "tvmgen_default_c_main_0"} {
  %r = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A region annotated elsewhere is dissolved too.
// CHECK:       func.func private @made(%a: tensor<4xf32>) -> tensor<4xf32> {
func.func private @made(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Extern = 1 : i64} {
  func.return %a : tensor<4xf32>
}

// Without a compiler the name is unrelated.
// CHECK:       func.func @exported({{.*}}) -> tensor<4xf32> attributes {global_symbol = "exported"}
func.func @exported(%a: tensor<4xf32>) -> tensor<4xf32> attributes {global_symbol = "exported"} {
  func.return %a : tensor<4xf32>
}
