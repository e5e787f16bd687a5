// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-lift-closures

// In an untyped tuple the field with the closure is unknown.
!t = tensor<3xf32>

func.func @main(%x: !t) -> !t {
  %f = relay.fn(%a : !t) -> !t {
    relay.yield %a : !t
  }
  // expected-error@below {{%p has the incomplete type !relay.incomplete; help: run relay-infer-type first}}
  %p = relay.tuple(%x, %f) : (!t, (!t) -> !t) -> !relay.incomplete
  %g = relay.tuple_get_item(%p) {index = 1} : (!relay.incomplete) -> ((!t) -> !t)
  %y = relay.invoke %g(%x) : (!t) -> !t
  func.return %y : !t
}
