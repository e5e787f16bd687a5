// RUN: xrelay-opt %s -p relay-infer-type,relay-lift-closures | filecheck %s
// RUN: xrelay-opt %s -p "relay-infer-type,relay-lift-closures{keep=true}" | filecheck %s --check-prefix=KEPT

!t = tensor<3xf32>
!f = (!t) -> !t
!n = tensor<i64>

// A call with a known callee needs only a function, and no closure; here the recursion becomes a loop.
// KEPT-LABEL: func.func @known
// KEPT:         func.call @known_f(
// CHECK-LABEL: func.func @known
// CHECK-NOT:     closure
// CHECK:         relay.loop
// CHECK-SAME:      relay.recursion = "known_f"
func.func @known(%x: !t, %n: !n) -> !t {
  %one = relay.constant dense<1> : !n
  %f = relay.fn rec(%self)(%a : !t, %k : !n) -> !t {
    %c = relay.less(%k, %one) : (!n, !n) -> tensor<i1>
    %r = relay.if %c : tensor<i1> -> !t {
      relay.yield %a : !t
    } else {
      %m = relay.subtract(%k, %one) : (!n, !n) -> !n
      %s = relay.add(%a, %x) : (!t, !t) -> !t
      %b = relay.invoke %self(%s, %m) : (!t, !n) -> !t
      relay.yield %b : !t
    }
    relay.yield %r : !t
  }
  %y = relay.invoke %f(%x, %n) : (!t, !n) -> !t
  func.return %y : !t
}

// A loop carries the number of a function and its captured values; a constant is not captured.
// CHECK-LABEL: func.func @carried
// CHECK:         %f = relay.closure_construct(%x) {number = 1}
// CHECK:         relay.loop(%i, %g = %f : !relay.closure, %v = %x : tensor<3xf32>) to %n : tensor<i64> -> tuple<!relay.closure, tensor<3xf32>>
// CHECK:           %[[K:.*]] = relay.closure_number(%g)
// CHECK:           %[[TWO:.*]] = relay.constant dense<2>
// CHECK:           %[[C:.*]] = relay.less(%[[K]], %[[TWO]])
// CHECK:           relay.if %[[C]]
// CHECK:             %[[X:.*]] = relay.closure_captured(%g) {index = 0, of = tensor<3xf32>}
// CHECK:             relay.add(%v, %[[X]])
// CHECK:           } else {
// CHECK:             %[[W:.*]] = relay.closure_captured(%g) {index = 0, of = tensor<3xf32>}
// CHECK:             relay.multiply(%v, %[[W]])
// CHECK:           %h = relay.closure_construct(%w) {number = 2}
func.func @carried(%x: !t, %n: !n) -> !t {
  %two = relay.constant dense<2.0> : tensor<f32>
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %r = relay.loop(%i, %g : !f = %f : !f, %v : !t = %x : !t) to %n : !n -> tuple<!f, !t> {
    %w = relay.invoke %g(%v) : (!t) -> !t
    %h = relay.fn(%a : !t) -> !t {
      %m = relay.multiply(%a, %w) : (!t, !t) -> !t
      %d = relay.divide(%m, %two) : (!t, tensor<f32>) -> !t
      relay.yield %d : !t
    }
    %y = relay.tuple(%h, %w) : (!f, !t) -> tuple<!f, !t>
    relay.yield %y : tuple<!f, !t>
  }
  %w = relay.tuple_get_item(%r) {index = 1} : (tuple<!f, !t>) -> !t
  func.return %w : !t
}

// A parameter that can only be one closure is called without a comparison of function numbers.
// CHECK-LABEL: func.func @passed
// CHECK:         %[[F:.*]] = relay.closure_construct(%x) {number = 3}
// CHECK:         func.call @twice(%[[F]], %x, %n) : (!relay.closure, tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-LABEL: func.func private @twice(%f: !relay.closure
// CHECK-NOT:     relay.closure_number
// CHECK:         %[[X:.*]] = relay.closure_captured(%f) {index = 0, of = tensor<3xf32>}
// CHECK:         relay.add(%x, %[[X]])
func.func @passed(%x: !t, %n: !n) -> !t {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %y = func.call @twice(%f, %x, %n) : (!f, !t, !n) -> !t
  func.return %y : !t
}
func.func private @twice(%f: !f, %x: !t, %n: !n) -> !t {
  %one = relay.constant dense<1> : !n
  %c = relay.less(%n, %one) : (!n, !n) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> !t {
    relay.yield %x : !t
  } else {
    %m = relay.subtract(%n, %one) : (!n, !n) -> !n
    %a = relay.invoke %f(%x) : (!t) -> !t
    %b = func.call @twice(%f, %a, %m) : (!f, !t, !n) -> !t
    %d = func.call @twice(%f, %b, %m) : (!f, !t, !n) -> !t
    relay.yield %d : !t
  }
  func.return %r : !t
}

// The extents of captured values are dynamic in the loop: the call requires that they equal n.
// CHECK-LABEL: func.func @named
// CHECK:         %[[X:.*]] = relay.closure_captured(%g) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<[[D:.*]]>}
// CHECK-SAME:      -> tensor<?xf32, #relay.dims<[[D]]>>
!m = tensor<?xf32, #relay.dims<n>>
!g = (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @named(%x: !m, %n: !n) -> !m {
  %f = relay.fn(%a : !m) -> !m {
    %s = relay.add(%a, %x) : (!m, !m) -> !m
    relay.yield %s : !m
  }
  %r = relay.loop(%i, %g : !g = %f : !g, %v : !m = %x : !m) to %n : !n -> tuple<!g, !m> {
    %w = relay.invoke %g(%v) : (!m) -> !m
    %y = relay.tuple(%g, %w) : (!g, !m) -> tuple<!g, !m>
    relay.yield %y : tuple<!g, !m>
  }
  %w = relay.tuple_get_item(%r) {index = 1} : (tuple<!g, !m>) -> !m
  func.return %w : !m
}

// The type of %r does not determine n: the function also captures the first value whose type does.
// CHECK-LABEL: func.func @capture_extent
// CHECK:         relay.closure_construct(%r, %x)
// CHECK:         relay.closure_construct(%k, %r)
!i = tensor<?xi32, #relay.dims<n>>
!h = (tensor<f32>) -> tensor<?x3xf32, #relay.dims<n floordiv 3>>
func.func @capture_extent(%c: tensor<i1>, %x: !i, %y: !m) -> !h {
  %r = relay.reshape(%y) {newshape = [-1, 3]} : (!m) -> tensor<?x3xf32, #relay.dims<n floordiv 3>>
  %d = relay.floor_divide(%x, %x) : (!i, !i) -> !i
  %k = relay.cast(%d) {dtype = f32} : (!i) -> !m
  %g = relay.if %c : tensor<i1> -> !h {
    %f = relay.fn(%a : tensor<f32>) -> tensor<?x3xf32, #relay.dims<n floordiv 3>> {
      %s = relay.add(%r, %a) : (tensor<?x3xf32, #relay.dims<n floordiv 3>>, tensor<f32>) -> tensor<?x3xf32, #relay.dims<n floordiv 3>>
      relay.yield %s : tensor<?x3xf32, #relay.dims<n floordiv 3>>
    }
    relay.yield %f : !h
  } else {
    %f = relay.fn(%a : tensor<f32>) -> tensor<?x3xf32, #relay.dims<n floordiv 3>> {
      %e = relay.sum(%k) : (!m) -> tensor<f32>
      %s = relay.add(%r, %e) : (tensor<?x3xf32, #relay.dims<n floordiv 3>>, tensor<f32>) -> tensor<?x3xf32, #relay.dims<n floordiv 3>>
      relay.yield %s : tensor<?x3xf32, #relay.dims<n floordiv 3>>
    }
    relay.yield %f : !h
  }
  func.return %g : !h
}

// An outer function of one that captures a value because of an extent captures the value, too.
// CHECK-LABEL: func.func @told_inside
// CHECK:         relay.closure_construct(%c, %r, %y)
!q = tensor<?x3xf32, #relay.dims<n floordiv 3>>
func.func @told_inside(%c: tensor<i1>, %y: !m, %q: !q) -> ((tensor<f32>) -> !h, !m) {
  %r = relay.negative(%q) : (!q) -> !q
  %k = relay.negative(%y) : (!m) -> !m
  %f = relay.fn(%a : tensor<f32>) -> !h {
    %t = relay.negative(%a) : (tensor<f32>) -> tensor<f32>
    %g = relay.if %c : tensor<i1> -> !h {
      %h = relay.fn(%b : tensor<f32>) -> !q {
        %s = relay.add(%r, %b) : (!q, tensor<f32>) -> !q
        relay.yield %s : !q
      }
      relay.yield %h : !h
    } else {
      %h = relay.fn(%b : tensor<f32>) -> !q {
        %s = relay.add(%r, %t) : (!q, tensor<f32>) -> !q
        relay.yield %s : !q
      }
      relay.yield %h : !h
    }
    relay.yield %g : !h
  }
  func.return %f, %k : (tensor<f32>) -> !h, !m
}

// Two nested functions use a tuple from outside: both capture the whole tuple.
// CHECK-LABEL: func.func @around
// CHECK:         relay.closure_construct(%c, %x, %x)
// CHECK:       func.func private @around_f(%c: tensor<i1>, %t: tuple<tensor<4xf32>, tensor<4xf32>>, %a: tensor<4xf32>)
// CHECK:         %[[A:.*]] = relay.tuple_get_item(%t) {index = 0}
// CHECK:         %[[B:.*]] = relay.tuple_get_item(%t) {index = 1}
// CHECK:         relay.closure_construct(%[[A]], %[[B]])
func.func @around(%c: tensor<i1>, %x: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %t = relay.tuple(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %f = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    %g = relay.if %c : tensor<i1> -> (tensor<4xf32>) -> tensor<4xf32> {
      %h = relay.fn(%b : tensor<4xf32>) -> tensor<4xf32> {
        %i = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
        %s = relay.add(%b, %i) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        relay.yield %s : tensor<4xf32>
      }
      relay.yield %h : (tensor<4xf32>) -> tensor<4xf32>
    } else {
      %k = relay.fn(%b : tensor<4xf32>) -> tensor<4xf32> {
        relay.yield %a : tensor<4xf32>
      }
      relay.yield %k : (tensor<4xf32>) -> tensor<4xf32>
    }
    %y = relay.invoke %g(%a) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}

// The function that @told_inside returns passes its captured values on.
// CHECK:       func.func private @told_inside_f(%c: {{[^%]*}}, %r: {{[^%]*}}, %y: {{[^%]*}}, %a: tensor<f32>)
// CHECK:         relay.closure_construct(%r, %y)

// A function that is never called is omitted: its parameter has no possible callee.
// CHECK-NOT: @dead
func.func private @dead(%f: !f, %x: !t) -> !t {
  %y = relay.invoke %f(%x) : (!t) -> !t
  func.return %y : !t
}
