// RUN: xrelay-opt %s -p relay-partial-eval | filecheck %s
// RUN: xrelay-opt %s -p 'relay-partial-eval{max-ops=5}' | filecheck %s --check-prefix SHORT

// A recursion with a decreasing number is evaluated; the remaining ops depend on unknown values.
// CHECK-LABEL: func.func @fires(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %b = relay.multiply(%x, %x)
// CHECK-NEXT:    %[[B:.*]] = relay.multiply(%b, %x)
// CHECK-NEXT:    func.return %[[B]]
// After five ops no call is evaluated: the second call and the closure remain.
// SHORT-LABEL: func.func @fires
// SHORT:         %f = relay.fn rec(%self)
// SHORT:         %[[B:.*]] = relay.multiply(%x, %x)
// SHORT-NEXT:    %[[S:.*]] = relay.invoke %f(%{{.*}}, %[[B]])
// SHORT-NEXT:    func.return %[[S]]
func.func @fires(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %two = relay.constant dense<2> : tensor<i32>
  %f = relay.fn rec(%self)(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    %c = relay.equal(%n, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      relay.yield %a : tensor<4xf32>
    } else {
      %m = relay.subtract(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %b = relay.multiply(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %s = relay.invoke %self(%m, %b) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
      relay.yield %s : tensor<4xf32>
    }
    relay.yield %r : tensor<4xf32>
  }
  %y = relay.invoke %f(%two, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// Tuples, lets, closures in tuples, and a function of the module with a closure as argument.
// CHECK-LABEL: func.func @structure(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %a = relay.exp(%x)
// CHECK-NEXT:    %[[S:.*]] = relay.add(%a, %x)
// CHECK-NEXT:    %[[T:.*]] = relay.add(%[[S]], %x)
// CHECK-NEXT:    func.return %[[T]]
func.func @structure(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.let "v" = %a : tensor<4xf32>
  %f = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.add(%p, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %t = relay.tuple(%v, %f) : (tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) -> tuple<tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>>
  %g = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %w = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>>) -> tensor<4xf32>
  %y = func.call @twice(%g, %w) : ((tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @twice
// CHECK-NEXT:    %a = relay.invoke %f(%x)
// CHECK-NEXT:    %b = relay.invoke %f(%a)
func.func private @twice(%f: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.invoke %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// An infinite recursion is followed once, as in Relay; the second call remains.
// CHECK-LABEL: func.func @endless
// CHECK:         %[[Y:.*]] = func.call @loop(%x)
// CHECK-NEXT:    func.return %[[Y]]
func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func private @loop
// CHECK-NEXT:    %y = func.call @loop(%x)
// CHECK-NEXT:    func.return %y
func.func private @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// A division by zero is not evaluated; arguments that a callee does not use are removed.
// CHECK-LABEL: func.func @failing
// CHECK-DAG:     %one = relay.constant dense<1>
// CHECK-DAG:     %zero = relay.constant dense<0>
// CHECK:         %d = relay.divide(%one, %zero)
// CHECK-NEXT:    %e = relay.divide(%x, %y)
// CHECK-NEXT:    %[[T:.*]] = relay.add(%d, %e)
// CHECK-NEXT:    %[[N:.*]] = relay.negative(%e)
// CHECK-NEXT:    func.return %[[T]], %[[N]]
func.func @failing(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = relay.constant dense<1> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %d = relay.divide(%one, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %e = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = func.call @first(%d, %e) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = func.call @first(%e, %d) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %t = relay.add(%r, %s) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %n = func.call @negated(%e) : (tensor<i32>) -> tensor<i32>
  func.return %t, %n : tensor<i32>, tensor<i32>
}
func.func private @first(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  func.return %a : tensor<i32>
}
func.func private @negated(%a: tensor<i32>) -> tensor<i32> {
  %n = relay.negative(%a) : (tensor<i32>) -> tensor<i32>
  func.return %n : tensor<i32>
}

// For an unknown condition both branches are evaluated; the closure that one of them yields contains its known values.
// CHECK-LABEL: func.func @unknown
// CHECK:         %k = relay.if %c
// CHECK-NEXT:      %[[F:.*]] = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:        %s = relay.add(%a, %{{.*}}) : (tensor<4xf32>, tensor<f32>)
// CHECK-NEXT:        relay.yield %s
// CHECK:           relay.yield %[[F]]
// CHECK:           relay.yield %g
// CHECK:         %y = relay.invoke %k(%x)
// CHECK-NEXT:    %[[L:.*]] = relay.loop
// CHECK-NEXT:      relay.exp
// CHECK-NOT:       relay.invoke
// CHECK:           relay.yield
func.func @unknown(%c: tensor<i1>, %n: tensor<i64>, %g: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %k = relay.if %c : tensor<i1> -> (tensor<4xf32>) -> tensor<4xf32> {
    %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
      %two = relay.add(%one, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %s = relay.add(%a, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      relay.yield %s : tensor<4xf32>
    }
    relay.yield %f : (tensor<4xf32>) -> tensor<4xf32>
  } else {
    relay.yield %g : (tensor<4xf32>) -> tensor<4xf32>
  }
  %y = relay.invoke %k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %e = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  }
  %r = relay.loop(%i, %v = %y : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %w = relay.invoke %h(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tuple(%w) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %t : tuple<tensor<4xf32>>
  }
  %z = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// Unchanged: calls of functions with named dimensions, of kernels, and of functions without a body.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT:    %y = relay.call @named<n = 4>(%x)
// CHECK-NEXT:    %z = func.call @kernel(%y)
// CHECK-NEXT:    %r = func.call @outside(%z)
func.func @stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.call @named<n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @kernel(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @outside(%z) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @named(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %y = relay.exp(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %y : tensor<?xf32, #relay.dims<n>>
}
func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  func.return %x : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

// Types are inferred first: the value that replaces a call has the call's type.
// CHECK-LABEL: func.func @untyped
// CHECK-SAME:    -> tensor<5xf32>
// CHECK-NEXT:    %i = relay.exp(%x) : (tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT:    func.return %i : tensor<5xf32>
func.func @untyped(%x: tensor<5xf32>) -> !relay.incomplete {
  %f = relay.fn(%p : tensor<5xf32>) -> tensor<5xf32> {
    %i = relay.exp(%p) : (tensor<5xf32>) -> tensor<5xf32>
    relay.yield %i : tensor<5xf32>
  }
  %r = relay.invoke %f(%x) : (tensor<5xf32>) -> !relay.incomplete of (tensor<5xf32>) -> tensor<5xf32>
  func.return %r : !relay.incomplete
}
