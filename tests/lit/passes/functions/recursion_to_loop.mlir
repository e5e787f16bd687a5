// RUN: xrelay-opt %s -p relay-recursion-to-loop,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p relay-recursion-to-loop --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// The value of the last call is that of the first: a loop, followed by the ops of the last call.
// CHECK-LABEL: func.func @tail
// CHECK:         %[[L:.*]] = relay.loop(%{{.*}}, %n_1 = %n : tensor<i64>, %s_1 = %s : tensor<i64>) while %{{.*}} : tensor<i1> -> tuple<tensor<i64>, tensor<i64>> attributes {relay.recursion = "tail"}
// CHECK:           relay.if
// CHECK:           relay.yield %{{.*}} : tuple<tensor<i1>, tensor<i64>, tensor<i64>>
// CHECK:         %[[S:.*]] = relay.tuple_get_item(%[[L]]) {index = 1}
// CHECK-NEXT:    func.return %[[S]]
// CHECK-NOT:     func.call
// REMARK:        func.call: the recursion becomes a loop
func.func @tail(%n: tensor<i64>, %s: tensor<i64>) -> tensor<i64> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %go : tensor<i1> -> tensor<i64> {
    %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relay.add(%s, %n) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c = func.call @tail(%m, %t) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    relay.yield %c : tensor<i64>
  } else {
    relay.yield %s : tensor<i64>
  }
  func.return %r : tensor<i64>
}

// The branch of the call is in the other branch of an outer one: the last call runs after the loop.
// CHECK-LABEL: func.func @nested
// CHECK:         relay.loop({{.*}}) while
// CHECK:           relay.if
// CHECK:             relay.if
// CHECK:         relay.if
// CHECK:           relay.negative
// CHECK-NOT:     func.call
// REMARK:        func.call: the recursion becomes a loop
func.func @nested(%n: tensor<i64>, %s: tensor<i64>) -> tensor<i64> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %go : tensor<i1> -> tensor<i64> {
    %big = relay.greater(%s, %n) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %q = relay.if %big : tensor<i1> -> tensor<i64> {
      %x = relay.negative(%s) : (tensor<i64>) -> tensor<i64>
      relay.yield %x : tensor<i64>
    } else {
      %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %c = func.call @nested(%m, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      relay.yield %c : tensor<i64>
    }
    relay.yield %q : tensor<i64>
  } else {
    relay.yield %s : tensor<i64>
  }
  func.return %r : tensor<i64>
}

// CHECK-LABEL: func.func @doubled
// CHECK:         func.call @doubled
// REMARK:        func.call: the result of the call is not that of the function
func.func @doubled(%x: tensor<f32>) -> tensor<f32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %stop = relay.equal(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = relay.if %stop : tensor<i1> -> tensor<f32> {
    relay.yield %x : tensor<f32>
  } else {
    %m = relay.subtract(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %c = func.call @doubled(%m) : (tensor<f32>) -> tensor<f32>
    %d = relay.add(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %d : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: func.call @twice
// REMARK:        func.call: @twice calls itself in 2 places
func.func @twice(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %a = func.call @twice(%c, %x) : (tensor<i1>, tensor<f32>) -> tensor<f32>
    %b = func.call @twice(%c, %a) : (tensor<i1>, tensor<f32>) -> tensor<f32>
    relay.yield %b : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @endless
// CHECK:         func.call @endless
// REMARK:        func.call: the call is not in a branch: the recursion does not end
func.func @endless(%x: tensor<f32>) -> tensor<f32> {
  %a = func.call @endless(%x) : (tensor<f32>) -> tensor<f32>
  func.return %a : tensor<f32>
}

// CHECK-LABEL: func.func @in_loop
// CHECK:         func.call @in_loop
// REMARK:        func.call: the call is in a relay.loop
func.func @in_loop(%n: tensor<i64>, %x: tensor<f32>) -> tensor<f32> {
  %l = relay.loop(%i, %s = %x : tensor<f32>) to %n : tensor<i64> -> tuple<tensor<f32>> {
    %a = func.call @in_loop(%i, %s) : (tensor<i64>, tensor<f32>) -> tensor<f32>
    %y = relay.tuple(%a) : (tensor<f32>) -> tuple<tensor<f32>>
    relay.yield %y : tuple<tensor<f32>>
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @grows
// CHECK:         relay.call @grows
// REMARK:        relay.call: the types of the arguments differ from those of the parameters
func.func @grows(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %t = relay.tuple(%x, %x) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>>
    %y = relay.concatenate(%t) {axis = 0} : (tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>>) -> tensor<?xf32, #relay.dims<2 * n>>
    %a = relay.call @grows<n = 2 * n>(%c, %y) : (tensor<i1>, tensor<?xf32, #relay.dims<2 * n>>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    %s = relay.sum(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<f32>
    relay.yield %s : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// Unchanged: a function that is not recursive, and two mutually recursive functions.
// CHECK-LABEL: func.func @first
// CHECK:         func.call @second
func.func @first(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %a = func.call @second(%c, %x) : (tensor<i1>, tensor<f32>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  func.return %r : tensor<f32>
}
// CHECK-LABEL: func.func @second
// CHECK:         func.call @first
func.func @second(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %a = func.call @first(%c, %x) : (tensor<i1>, tensor<f32>) -> tensor<f32>
  func.return %a : tensor<f32>
}
