// RUN: xrelay-opt %s -p relay-to-basic-block-normal-form | filecheck %s

// An op that a single branch uses moves into it, with the ops on which it depends; an op that both use stays.
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

// A let fixes the block of its value, even if the value may fail; users of the let move.
// CHECK-LABEL: func.func @lets
// CHECK-NEXT:    %[[Q:.*]] = relay.floor_divide(%x, %y)
// CHECK-NEXT:    %[[V:.*]] = relay.let "v" = %[[Q]]
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[W:.*]] = relay.add(%[[V]], %[[V]])
// CHECK-NEXT:      relay.yield %[[W]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[N:.*]] = relay.negative(%x)
// CHECK-NEXT:      %[[B:.*]] = relay.let "b" = %[[N]]
// CHECK-NEXT:      relay.yield %[[B]]
func.func @lets(%c: tensor<i1>, %x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %q = relay.floor_divide(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %v = relay.let "v" = %q : tensor<4xi32>
  %u = relay.let "unused" = %q : tensor<4xi32>
  %w = relay.add(%v, %v) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %n = relay.negative(%x) : (tensor<4xi32>) -> tensor<4xi32>
  %r = relay.if %c : tensor<i1> -> tensor<4xi32> {
    relay.yield %w : tensor<4xi32>
  } else {
    %b = relay.let "b" = %n : tensor<4xi32>
    relay.yield %b : tensor<4xi32>
  }
  func.return %r : tensor<4xi32>
}

// An op moves into the innermost block that contains all uses. A recursive call moves, too, else it would not end.
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

// A branch that moves takes its contents along: then all uses of %e are in the first branch of the outer `if`.
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

// A function with another declared form keeps it.
// CHECK-LABEL: func.func @already
// CHECK-SAME:    attributes {relay.form = "anf"}
func.func @already(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.form = "anf"} {
  func.return %x : tensor<4xf32>
}

// Nothing moves into a closure, which may be called more than once; its operands move with it.
// CHECK-LABEL: func.func @closure
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      %[[N:.*]] = relay.negative(%x)
// CHECK-NEXT:      %[[F:.*]] = relay.fn
// CHECK-NEXT:        relay.add(%{{.*}}, %[[N]])
// CHECK:           relay.invoke %[[F]]
// CHECK-NEXT:      relay.invoke %[[F]]
func.func @closure(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.add(%a, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %p = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %q = relay.invoke %f(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %q : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A call with uses in two ifs is in the block that contains both.
// CHECK-LABEL: func.func @two_ifs
// CHECK-NEXT:    %[[N:.*]] = relay.negative(%x)
// CHECK-NEXT:    %[[V:.*]] = func.call @already(%[[N]])
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.yield %[[V]]
func.func @two_ifs(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = func.call @already(%n) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %v : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<4xf32> {
    relay.yield %v : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Ops of a single branch move into it, also an `if` with a call; a call of an unknown function stays.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    func.call @unknown
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.if %d
// CHECK-NEXT:        func.call @already
func.func @effects(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %u = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.if %d : tensor<i1> -> tensor<4xf32> {
    %w = func.call @already(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %w : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %s = relay.add(%u, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

func.func private @unknown(tensor<4xf32>) -> tensor<4xf32>

// Nothing moves into a loop, which may run it repeatedly; a loop moves into the only branch that uses it.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:      relay.loop(%i, %s = %x
// CHECK-NEXT:        relay.add(%s, %[[E]])
func.func @loop(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %a = relay.add(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%a) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %g = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %o = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %g : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %o : tensor<4xf32>
}

// A call of a function with named dimensions moves into the branch that uses it.
// CHECK-LABEL: func.func @named_call
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.call @named<n = 4>
func.func @named_call(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %v = relay.call @named<n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %v : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}
func.func private @named(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
