// RUN: xrelay-opt %s -p 'relay-inline-compiler-functions-bound-to{global-vars=mine_0,unused_0}' | filecheck %s
// RUN: xrelay-opt %s -p relay-inline-compiler-functions-bound-to | filecheck %s --check-prefix=NOTHING
// RUN: not xrelay-opt %s -p 'relay-inline-compiler-functions-bound-to{global-vars=mine_2}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xrelay-opt %s -p 'relay-inline-compiler-functions-bound-to{global-vars=marked}' 2>&1 | filecheck %s --check-prefix=NONE

// UNKNOWN: relay-inline-compiler-functions-bound-to: {{.*}} @mine_2; help: did you mean '@mine_
// NONE: relay-inline-compiler-functions-bound-to: @marked {{.*}}; help: relay-inline inlines

// The composite in the function is inlined with it; other functions keep their calls, marked ones too.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = relay.exp(%x)
// CHECK-NEXT:    %z = func.call @mine_1(%y)
// CHECK-NEXT:    %w = func.call @marked(%z)
// CHECK-NEXT:    func.return %w
// CHECK-NOT:     @mine_0
// CHECK-NOT:     @unused_0
// CHECK:       func.func private @mine_1({{.*}}) -> tensor<4xf32> attributes {Compiler = "mine"}
// CHECK:       func.func private @marked({{.*}}) -> tensor<4xf32> attributes {relay.inline}
// NOTHING-LABEL: func.func @main
// NOTHING-NEXT:    %y = func.call @mine_0(%x)
// NOTHING:       func.func private @mine_0({{.*}}) -> tensor<4xf32> attributes {Compiler = "mine"}
// NOTHING:       func.func private @unused_0(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @mine_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @mine_1(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %w = func.call @marked(%z) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}
func.func private @mine_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine"} {
  %f = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "mine.exp"} {
    %e = relay.exp(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  }
  %y = relay.invoke %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @mine_1(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine"} {
  func.return %a : tensor<4xf32>
}
func.func private @unused_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine"} {
  func.return %a : tensor<4xf32>
}
func.func private @marked(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  func.return %a : tensor<4xf32>
}
