// RUN: xrelay-opt %s -p relay-to-basic-block-normal-form | filecheck %s

// What one branch alone needs moves into it, with what that needs; what both need stays.
// CHECK-LABEL: func.func @branches
// CHECK-SAME:    attributes {relay.form = "bbnf"}
// CHECK-NEXT:    %[[B:.*]] = relay.abs(%x)
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:      %[[S:.*]] = relay.sigmoid(%[[E]])
// CHECK-NEXT:      %[[A:.*]] = relay.add(%[[S]], %[[B]])
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK:           relay.yield %[[B]]
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.sigmoid(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %a = relay.add(%s, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// Nested branches: the innermost block that holds all uses. A recursive call sinks too, or it would never end.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[E:.*]] = func.call @nested
// CHECK-NEXT:      relay.if %d
// CHECK-NEXT:        relay.yield %[[E]]
// CHECK:             %[[N:.*]] = relay.negative(%[[E]])
func.func @nested(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = func.call @nested(%c, %d, %x) : (tensor<i1>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  %n = relay.negative(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %q = relay.if %d : tensor<i1> -> tensor<4xf32> {
      relay.yield %e : tensor<4xf32>
    } else {
      relay.yield %n : tensor<4xf32>
    }
    relay.yield %q : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A branch that moves takes what is in it along: the uses of %e all lie in the first branch of the outer one then.
// CHECK-LABEL: func.func @moved_along
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:      %[[I:.*]] = relay.if %d
// CHECK-NEXT:        relay.negative(%[[E]])
// CHECK:           relay.add(%[[I]], %[[E]])
func.func @moved_along(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %i = relay.if %d : tensor<i1> -> tensor<4xf32> {
    %n = relay.negative(%e) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %n : tensor<4xf32>
  } else {
    relay.yield %e : tensor<4xf32>
  }
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %s = relay.add(%i, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A function that says another form keeps it.
// CHECK-LABEL: func.func @already
// CHECK-SAME:    attributes {relay.form = "anf"}
func.func @already(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.form = "anf"} {
  func.return %x : tensor<4xf32>
}
