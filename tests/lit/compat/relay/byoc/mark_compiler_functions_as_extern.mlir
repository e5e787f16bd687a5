// RUN: xrelay-opt %s -p relay-mark-compiler-functions-as-extern | filecheck %s
// RUN: xrelay-opt %s -p 'relay-mark-compiler-functions-as-extern{compiler-filter=other}' | filecheck %s --check-prefix=OTHER

// CHECK:      func.func private @mine_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Extern = 1 : i64} {
// CHECK-NEXT:   relay.exp(%a)
// OTHER:      func.func private @mine_0({{.*}}) -> tensor<4xf32> attributes {Compiler = "mine", Primitive = 1 : i64, global_symbol = "mine_0"}
func.func private @mine_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine", Primitive = 1 : i64, global_symbol = "mine_0"} {
  %e = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// The form of the body is kept.
// CHECK:      func.func private @other_0({{.*}}) -> tensor<4xf32> attributes {Extern = 1 : i64, relay.form = "anf"}
// OTHER:      func.func private @other_0({{.*}}) -> tensor<4xf32> attributes {Extern = 1 : i64, relay.form = "anf"}
func.func private @other_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.form = "anf", Compiler = "other"} {
  func.return %a : tensor<4xf32>
}

// CHECK:      func.func @exported({{.*}}) -> tensor<4xf32> attributes {global_symbol = "exported"}
func.func @exported(%a: tensor<4xf32>) -> tensor<4xf32> attributes {global_symbol = "exported"} {
  func.return %a : tensor<4xf32>
}
