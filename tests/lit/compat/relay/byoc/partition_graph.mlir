// RUN: xrelay-opt %s -p relay-partition-graph | filecheck %s
// RUN: xrelay-opt %s -p "relay-partition-graph{mod-name=my-net bind-constants=false}" | filecheck %s --check-prefix=NAMED

// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %y = func.call @tvmgen_default_c_main_0(%x)
// CHECK-NEXT:    %z = relay.negative(%y)
// CHECK-NEXT:    func.return %z
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%e) {compiler = "default"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.negative(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.annotation.compiler_end(%z) {compiler = "default"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}

// Several results; the outputs are in Relay's order, each value once.
// CHECK-LABEL: func.func @outputs(
// CHECK-NEXT:    %l, %a = func.call @tvmgen_default_c_outputs_0(%x)
// CHECK-NEXT:    %t = relay.tanh(%a)
// CHECK-NEXT:    %s = func.call @tvmgen_default_c_outputs_1(%l, %t)
// CHECK-NEXT:    %u = relay.add(%s, %a)
func.func @outputs(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.abs(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e1 = relay.annotation.compiler_end(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %e2 = relay.annotation.compiler_end(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %l = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %e3 = relay.annotation.compiler_end(%l) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tanh(%e1) : (tensor<4xf32>) -> tensor<4xf32>
  %b4 = relay.annotation.compiler_begin(%e3) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %b5 = relay.annotation.compiler_begin(%t) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%b4, %b5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e5 = relay.annotation.compiler_end(%s) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %u = relay.add(%e5, %e2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %u : tensor<4xf32>
}

// An input that is used twice is one parameter.
// CHECK-LABEL: func.func @inputs(
// CHECK-NEXT:    func.call @tvmgen_default_c_inputs_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
func.func @inputs(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%s) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// A constant moves into the function, unless options disable it, and so does a tuple of constants.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT:    func.call @tvmgen_default_c_constants_0(%x) :
// NAMED-LABEL: func.func @constants(
// NAMED:         func.call @tvmgen_my_net_c_constants_0(%x, %k) :
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = relay.constant dense<2.0> : tensor<4xf32>
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%k) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%s) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// A tuple is output field by field, also a nested one.
// CHECK-LABEL: func.func @tuples(
// CHECK-NEXT:    %{{.*}}, %{{.*}}, %{{.*}} = func.call @tvmgen_default_c_tuples_0(%x)
func.func @tuples(%x: tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.abs(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %n = relay.negative(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple(%a, %n) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %u = relay.tuple(%t, %b) : (tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>
  %e = relay.annotation.compiler_end(%u) {compiler = "c"} : (tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>) -> tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>
  func.return %e : tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>
}

// A symbol has letters, digits and underscores; a function without arguments is removed with its calls.
// CHECK-LABEL: func.func @composite(
// CHECK-NEXT:    %[[R:.*]] = func.call @tvmgen_default_un_clean___composite_0(%x)
// CHECK-NEXT:    func.return %[[R]]
func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%p : tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "un-clean++.exp"} {
    %r = relay.exp(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %b = relay.annotation.compiler_begin(%x) {compiler = "un-clean++"} : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.invoke %f(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%c) {compiler = "un-clean++"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// A whole branch in a region, and a region in a branch.
// CHECK-LABEL: func.func @branches(
// CHECK-NEXT:    %r = func.call @tvmgen_default_c_branches_0(%c, %x)
// CHECK-NEXT:    %s = relay.if %c : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:      %z = func.call @tvmgen_default_c_branches_2(%r)
// CHECK-NEXT:      relay.yield %z
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %bc = relay.annotation.compiler_begin(%c) {compiler = "c"} : (tensor<i1>) -> tensor<i1>
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %bc : tensor<i1> -> tensor<4xf32> {
    %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  %e = relay.annotation.compiler_end(%r) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %d = relay.annotation.compiler_begin(%e) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.negative(%d) : (tensor<4xf32>) -> tensor<4xf32>
    %f = relay.annotation.compiler_end(%z) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %f : tensor<4xf32>
  } else {
    relay.yield %e : tensor<4xf32>
  }
  func.return %s : tensor<4xf32>
}

// Annotations without ops between them are removed.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    func.return %x
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%b) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// CHECK-LABEL: func.func private @tvmgen_default_c_main_0(
// CHECK-SAME:    %c_0_i0: tensor<4xf32>) -> tensor<4xf32> attributes
// CHECK-SAME:    {Compiler = "c", Primitive = 1 : i64, Inline = 1 : i64, global_symbol = "tvmgen_default_c_main_0"}
// CHECK-NEXT:    %y = relay.exp(%c_0_i0)
// CHECK-NEXT:    func.return %y

// CHECK-LABEL: func.func private @tvmgen_default_c_outputs_0(
// CHECK:         func.return %l, %a

// CHECK-LABEL: func.func private @tvmgen_default_c_outputs_1(
// CHECK-SAME:    %c_1_i0: tensor<4xf32>, %c_1_i1: tensor<4xf32>)

// CHECK-LABEL: func.func private @tvmgen_default_c_inputs_0(
// CHECK:         relay.add(%c_0_i0, %c_0_i0)

// CHECK-LABEL: func.func private @tvmgen_default_c_constants_0(%c_0_i0: tensor<4xf32>)
// CHECK-NEXT:    %k = relay.constant
// CHECK-NEXT:    relay.add(%c_0_i0, %k)
// NAMED-LABEL: func.func private @tvmgen_my_net_c_constants_0(%c_0_i0: tensor<4xf32>, %c_0_i1: tensor<4xf32>)
// NAMED-NEXT:    relay.add(%c_0_i0, %c_0_i1)

// CHECK-LABEL: func.func private @tvmgen_default_c_tuples_0(
// CHECK:         func.return %a, %n, %c_0_i0

// CHECK-LABEL: func.func private @tvmgen_default_un_clean___composite_0(%un_clean___0_i0: tensor<4xf32>)
// CHECK-NEXT:    %f = relay.fn
// CHECK:         relay.invoke %f(%un_clean___0_i0)

// CHECK-LABEL: func.func private @tvmgen_default_c_branches_0(
// CHECK:         relay.if %c_0_i0
