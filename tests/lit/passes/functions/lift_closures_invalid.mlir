// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-infer-type,relay-lift-closures

!t = tensor<3xf32>

func.func @main(%f: (!t) -> !t, %x: !t) -> !t {
  // expected-error@below {{relay-lift-closures: the callee is not a function of the program}}
  %y = relay.invoke %f(%x) : (!t) -> !t
  func.return %y : !t
}
