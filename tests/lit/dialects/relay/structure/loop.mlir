// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @count(
func.func @count(%n: tensor<i64>, %x: tensor<4xf32>) {
  // CHECK: %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>, tensor<?xi64, #relay.dims<k>>> {
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>, tensor<?xi64, #relay.dims<k>>> {
    // CHECK-NEXT: %y = relay.tuple(%s, %i)
    %y = relay.tuple(%s, %i) : (tensor<4xf32>, tensor<i64>) -> tuple<tensor<4xf32>, tensor<i64>>
    // CHECK-NEXT: relay.yield %y : tuple<tensor<4xf32>, tensor<i64>>
    relay.yield %y : tuple<tensor<4xf32>, tensor<i64>>
  // CHECK-NEXT: }
  }
  func.return
}

// CHECK-LABEL: @condition(
func.func @condition(%c: tensor<i1>) {
  // CHECK: %r = relay.loop(%i) while %c : tensor<i1> -> tuple<> attributes {note = "n"} {
  %r = relay.loop(%i) while %c : tensor<i1> -> tuple<> attributes {note = "n"} {
    %y = relay.tuple(%c) : (tensor<i1>) -> tuple<tensor<i1>>
    relay.yield %y : tuple<tensor<i1>>
  }
  func.return
}

// CHECK-LABEL: @both(
func.func @both(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK: relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>, %t = %c : tensor<i1>) to %n : tensor<i64> while %c : tensor<i1> -> !relay.incomplete {
  %r = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>, %t = %c : tensor<i1>) to %n : tensor<i64> while %c : tensor<i1> -> !relay.incomplete {
    %y = relay.tuple(%t, %s, %t) : (tensor<i1>, tensor<?xf32, #relay.dims<m>>, tensor<i1>) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  func.return
}
