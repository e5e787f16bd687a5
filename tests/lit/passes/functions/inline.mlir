// RUN: xrelay-opt %s -p relay-inline,relay-dead-code-elimination | filecheck %s
// RUN: not xrelay-opt %s -p "relay-inline{max-ops=0}" 2>&1 | filecheck %s --check-prefix=LIMIT
// RUN: xrelay-opt %s -p "relay-inline{marked=true}" | filecheck %s --check-prefix=MARKED

// LIMIT: relay-inline: inlining adds more than 0 ops; help: raise max-ops

// Callees are inlined first: @twice is inlined with @square. Functions without callers are removed.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[A:.*]] = relay.multiply(%x, %x)
// CHECK-NEXT:    %[[B:.*]] = relay.multiply(%[[A]], %[[A]])
// CHECK-NEXT:    func.return %[[B]]
// CHECK-NOT:   @twice
// CHECK-NOT:   @square
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = func.call @square(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @square(%b) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
func.func private @square(%a: tensor<4xf32>) -> tensor<4xf32> {
  %m = relay.multiply(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// Left alone: a recursive function, a kernel, a function without a body.
// CHECK-LABEL: func.func @left_alone
// CHECK:         func.call @left_alone
// CHECK:         func.call @kernel
// CHECK:         func.call @outside
func.func @left_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @left_alone(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @kernel(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @outside(%b) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
func.func private @kernel(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %m = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

// With `marked`, only marked functions are inlined: @square keeps its call.
// MARKED-LABEL: func.func @some
// MARKED-NEXT:    %[[R:.*]] = relay.nn.relu(%x)
// MARKED-NEXT:    func.call @square(%[[R]])
func.func @some(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @positive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @square(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @positive(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.inline} {
  %m = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// A public function is inlined, and remains for callers outside of the module.
// CHECK-LABEL: func.func @of_public
// CHECK-NEXT:    relay.nn.relu
// CHECK-NEXT:    relay.nn.relu
// CHECK-LABEL: func.func @public
// CHECK-NEXT:    relay.nn.relu
func.func @of_public(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @between(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @between(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
func.func private @between(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = func.call @public(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func @public(%a: tensor<4xf32>) -> tensor<4xf32> {
  %m = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// A recursive function keeps its calls. Functions that it calls, and other functions, are inlined.
// CHECK-LABEL: func.func @beside_recursion
// CHECK-NEXT:    %[[C:.*]] = func.call @recursive(%x)
// CHECK-NEXT:    %[[D:.*]] = relay.exp(%[[C]])
// CHECK-NEXT:    func.return %[[D]]
// CHECK-LABEL: func.func private @recursive
// CHECK-NEXT:    %[[E:.*]] = func.call @recursive(%x)
// CHECK-NEXT:    %[[F:.*]] = relay.exp(%[[E]])
func.func @beside_recursion(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @simple(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @simple(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @simple(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// A closure is inlined at its calls, through lets, fields of tuples and parameters of functions, and then removed.
// CHECK-LABEL: func.func @closures
// CHECK-NEXT:    %[[N:.*]] = relay.negative(%x)
// CHECK-NEXT:    %[[A:.*]] = relay.add(%x, %[[N]])
// CHECK-NEXT:    %[[B:.*]] = relay.add(%[[A]], %[[N]])
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%[[B]])
// CHECK-NEXT:    func.return %[[E]]
func.func @closures(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.add(%a, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %v = relay.let "f" = %f : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.invoke %v(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple(%x, %v) : (tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) -> tuple<tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>>
  %g = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %b = func.call @apply(%g, %a) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @apply(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.exp(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// Left alone: a recursive closure, also as the result of a branch. The branch with the other closure inlines the call.
// CHECK-LABEL: func.func @unknown_closures
// CHECK:         relay.fn rec(
// CHECK:         relay.invoke
// CHECK:         relay.if
// CHECK:         relay.invoke
func.func @unknown_closures(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.fn rec(%self)(%a : tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.invoke %self(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %y = relay.invoke %r(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %a : tensor<4xf32>
  }
  %g = relay.if %c : tensor<i1> -> (tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %f : (tensor<4xf32>) -> tensor<4xf32>
  } else {
    relay.yield %r : (tensor<4xf32>) -> tensor<4xf32>
  }
  %z = relay.invoke %g(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// A marked public function is inlined too; a function for another compiler keeps its calls.
// MARKED-LABEL: func.func @marks(
// MARKED-NEXT:    %{{.*}} = relay.exp(%x)
// MARKED-NEXT:    %{{.*}} = func.call @theirs(
// MARKED-NOT:   @marked
// MARKED:       func.func @theirs(
func.func @marks(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @marked(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = func.call @theirs(%0) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}
func.func @marked(%x: tensor<3xf32>) -> tensor<3xf32> attributes {relay.inline} {
  %0 = relay.exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
func.func @theirs(%x: tensor<3xf32>) -> tensor<3xf32> attributes {relay.inline, Compiler = "acme"} {
  %0 = relay.tanh(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// An argument that the body does not use is removed, with the error that it may report.
// CHECK-LABEL: func.func @unused_argument
// CHECK-NOT:     func.call
// CHECK:         relay.negative(%y)
func.func @unused_argument(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = func.call @second(%q, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}
func.func private @second(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %n = relay.negative(%b) : (tensor<i32>) -> tensor<i32>
  func.return %n : tensor<i32>
}
