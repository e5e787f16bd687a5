// RUN: xrelay-opt %s -p relay-inline,relay-dead-code-elimination | filecheck %s

!t = tensor<f32>
!i = tensor<i32>
!n = tensor<i64>

// A closure that a run chooses is called in the branches that give it: for its only call, whatever they compute.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %{{.*}} = relay.if %c : tensor<i1> -> tensor<f32> {
// CHECK-NEXT:      %[[S:.*]] = relay.add(%x, %y)
// CHECK-NEXT:      relay.yield %[[S]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:      %[[M:.*]] = relay.multiply(%y, %[[E]])
// CHECK-NEXT:      relay.yield %[[M]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @main(%c: tensor<i1>, %x: !t, %y: !t) -> !t {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%x, %a) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %g = relay.if %c : tensor<i1> -> (!t) -> !t {
    relay.yield %f : (!t) -> !t
  } else {
    %e = relay.exp(%x) : (!t) -> !t
    %h = relay.fn(%a : !t) -> !t {
      %s = relay.multiply(%a, %e) : (!t, !t) -> !t
      relay.yield %s : !t
    }
    relay.yield %h : (!t) -> !t
  }
  %v = relay.let "v" = %g : (!t) -> !t
  %0 = relay.invoke %v(%y) : (!t) -> !t
  func.return %0 : !t
}

// Branches that do nothing but make closures serve any number of calls.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.exp(%x)
// CHECK:         relay.if %c
// CHECK-NEXT:      relay.exp(%y)
// CHECK-NOT:     relay.fn
func.func @twice(%c: tensor<i1>, %x: !t, %y: !t) -> (!t, !t) {
  %g = relay.if %c : tensor<i1> -> (!t) -> !t {
    %f = relay.fn(%a : !t) -> !t {
      %s = relay.exp(%a) : (!t) -> !t
      relay.yield %s : !t
    }
    relay.yield %f : (!t) -> !t
  } else {
    %h = relay.fn(%a : !t) -> !t {
      %s = relay.log(%a) : (!t) -> !t
      relay.yield %s : !t
    }
    relay.yield %h : (!t) -> !t
  }
  %0 = relay.invoke %g(%x) : (!t) -> !t
  %1 = relay.invoke %g(%y) : (!t) -> !t
  func.return %0, %1 : !t, !t
}

// What a branch computes for its closure it computes once, so its two calls stay.
// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: relay.exp
// CHECK-COUNT-2: relay.invoke
// CHECK-NOT:     relay.exp
func.func @once(%c: tensor<i1>, %f: (!t) -> !t, %x: !t, %y: !t) -> (!t, !t) {
  %g = relay.if %c : tensor<i1> -> (!t) -> !t {
    relay.yield %f : (!t) -> !t
  } else {
    %e = relay.exp(%x) : (!t) -> !t
    %h = relay.fn(%a : !t) -> !t {
      %s = relay.multiply(%a, %e) : (!t, !t) -> !t
      relay.yield %s : !t
    }
    relay.yield %h : (!t) -> !t
  }
  %0 = relay.invoke %g(%x) : (!t) -> !t
  %1 = relay.invoke %g(%y) : (!t) -> !t
  func.return %0, %1 : !t, !t
}

// A loop may call closures of branches that compute nothing.
// CHECK-LABEL: func.func @repeated
// CHECK:         relay.loop
// CHECK-NEXT:      relay.if %c
// CHECK-NOT:     relay.invoke
func.func @repeated(%c: tensor<i1>, %x: !i, %y: !i, %n: !n) -> tuple<!i> {
  %f = relay.fn(%a : !i) -> !i {
    %s = relay.add(%a, %y) : (!i, !i) -> !i
    relay.yield %s : !i
  }
  %h = relay.fn(%a : !i) -> !i {
    relay.yield %a : !i
  }
  %g = relay.if %c : tensor<i1> -> (!i) -> !i {
    relay.yield %f : (!i) -> !i
  } else {
    relay.yield %h : (!i) -> !i
  }
  %r = relay.loop(%i, %v : !i = %x : !i) to %n : !n -> tuple<!i> {
    %w = relay.invoke %g(%v) : (!i) -> !i
    %t = relay.tuple(%w) : (!i) -> tuple<!i>
    relay.yield %t : tuple<!i>
  }
  func.return %r : tuple<!i>
}

// The branch computes a quotient for its closure: the call stays, because the loop would compute it again and again.
// CHECK-LABEL: func.func @repeated_quotient
// CHECK:         relay.if %c
// CHECK-NEXT:      relay.divide
// CHECK:         relay.loop
// CHECK-NEXT:      relay.invoke
func.func @repeated_quotient(%c: tensor<i1>, %x: !i, %y: !i, %n: !n) -> tuple<!i> {
  %p = relay.divide(%x, %y) : (!i, !i) -> !i
  %q = relay.add(%p, %y) : (!i, !i) -> !i
  %f = relay.fn(%a : !i) -> !i {
    %s = relay.add(%a, %q) : (!i, !i) -> !i
    relay.yield %s : !i
  }
  %h = relay.fn(%a : !i) -> !i {
    relay.yield %a : !i
  }
  %g = relay.if %c : tensor<i1> -> (!i) -> !i {
    relay.yield %f : (!i) -> !i
  } else {
    relay.yield %h : (!i) -> !i
  }
  %r = relay.loop(%i, %v : !i = %x : !i) to %n : !n -> tuple<!i> {
    %w = relay.invoke %g(%v) : (!i) -> !i
    %t = relay.tuple(%w) : (!i) -> tuple<!i>
    relay.yield %t : tuple<!i>
  }
  func.return %r : tuple<!i>
}

// What a function gets stays one that its caller chooses.
// CHECK-LABEL: func.func @given
// CHECK:         relay.invoke
func.func @given(%f: (!t) -> !t, %y: !t) -> !t {
  %0 = relay.invoke %f(%y) : (!t) -> !t
  func.return %0 : !t
}
