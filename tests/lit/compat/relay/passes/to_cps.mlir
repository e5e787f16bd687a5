// RUN: xrelay-opt %s -p relay-to-cps | filecheck %s
// RUN: xrelay-opt %s -p relay-to-cps,relay-un-cps,relay-inline,relay-dead-code-elimination | filecheck %s --check-prefix BACK

// The ops after a call are its continuation, the ops after a branch a closure that both branches call.
// CHECK-LABEL: func.func @fires
// CHECK-SAME:    (%c: tensor<i1>, %x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32>
// CHECK-SAME:    attributes {relay.form = "bbnf"}
// CHECK-NEXT:    %[[K1:.*]] = relay.fn(%y: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %[[K2:.*]] = relay.fn(%z: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:        %r = relay.add(%z, %y)
// CHECK-NEXT:        %[[A:.*]] = relay.invoke %k(%r)
// CHECK-NEXT:        relay.yield %[[A]]
// CHECK:           relay.if %c : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:        %[[B:.*]] = relay.invoke %[[K2]](%x)
// CHECK-NEXT:        relay.yield %[[B]]
// CHECK:             %e = relay.exp(%y)
// CHECK-NEXT:        %[[C:.*]] = relay.invoke %[[K2]](%e)
// CHECK:         %[[D:.*]] = func.call @called_cps(%x, %[[K1]])
// CHECK-NEXT:    func.return %[[D]]
// BACK-LABEL: func.func @fires
// BACK-SAME:    (%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32>
// BACK-NOT:     relay.fn
// BACK-NOT:     call
// BACK:         relay.abs(%x)
// BACK:         relay.if %c
func.func @fires(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    %e = relay.exp(%y) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  }
  %r = relay.add(%z, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

func.func private @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// The continuation takes several results as a tuple. A tail call gets the continuation of the function.
// CHECK-LABEL: func.func @tail
// CHECK-SAME:    %k: (tuple<tensor<4xf32>, tensor<f32>>) -> tuple<tensor<4xf32>, tensor<f32>>)
// CHECK-NEXT:    %[[A:.*]] = func.call @pair_cps(%x, %k)
// CHECK-NEXT:    func.return %[[A]]
// BACK-LABEL: func.func @tail
// BACK-SAME:    (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
func.func @tail(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %a, %b = func.call @pair(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  func.return %a, %b : tensor<4xf32>, tensor<f32>
}

func.func private @pair(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %s = relay.sum(%x) : (tensor<4xf32>) -> tensor<f32>
  func.return %x, %s : tensor<4xf32>, tensor<f32>
}

// A closure takes a continuation too, and so do function parameters and recursive functions.
// CHECK-LABEL: func.func @closures
// CHECK-SAME:    %g: (tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32>, %k:
// CHECK-NEXT:    %f = relay.fn rec(%self)(%n: tensor<i32>, %[[OWN:.*]]: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
// CHECK:           relay.if
// CHECK-NEXT:        relay.invoke %g(%x, %[[OWN]])
// CHECK:             relay.invoke %self(%{{.*}}, %[[OWN]])
// CHECK:         relay.invoke %f(%m, %k)
func.func @closures(%m: tensor<i32>, %x: tensor<4xf32>, %g: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn rec(%self)(%n: tensor<i32>) -> tensor<4xf32> {
    %one = relay.constant dense<1> : tensor<i32>
    %c = relay.less(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %v = relay.if %c : tensor<i1> -> tensor<4xf32> {
      %y = relay.invoke %g(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %y : tensor<4xf32>
    } else {
      %o = relay.subtract(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %y = relay.invoke %self(%o) : (tensor<i32>) -> tensor<4xf32>
      relay.yield %y : tensor<4xf32>
    }
    relay.yield %v : tensor<4xf32>
  }
  %r = relay.invoke %f(%m) : (tensor<i32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Unchanged: kernels, functions without a body, and calls of them.
// CHECK-LABEL: func.func @foreign
// CHECK-NEXT:    %y = func.call @outside(%x)
// CHECK-NEXT:    %[[Z:.*]] = func.call @kernel(%y)
// CHECK-NEXT:    %[[A:.*]] = relay.invoke %k(%[[Z]])
func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @kernel(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
// CHECK:       func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
// CHECK:       func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive}
func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  func.return %x : tensor<4xf32>
}

// The converted callees follow all functions, in this style only.
// CHECK-LABEL: func.func private @called_cps(%x: tensor<4xf32>, %k: (tensor<4xf32>) -> tensor<4xf32>)
// CHECK-NEXT:    %y = relay.abs(%x)
// CHECK-NEXT:    relay.invoke %k(%y)
// CHECK-LABEL: func.func private @pair_cps
// CHECK-NOT:   func.func
