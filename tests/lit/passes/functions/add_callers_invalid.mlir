// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-infer-type,relay-add-callers

!t = tensor<3xf32>
!g = (tensor<i64>) -> !t

// expected-error@below {{relay-add-callers: parameter #0 of a function that @main returns is of type (tensor<i64>) -> tensor<3xf32>, but @main returns no such function}}
func.func @main(%x: !t) -> ((!g) -> !t) {
  %f = relay.fn(%a : !g) -> !t {
    relay.yield %x : !t
  }
  func.return %f : (!g) -> !t
}

// -----

!t = tensor<3xf32>
!p = tuple<(!t) -> !t, !t>

// expected-error@below {{relay-add-callers: parameter #0 of a function that @main returns is a tuple with functions}}
func.func @main(%x: !t) -> ((!p) -> !t) {
  %f = relay.fn(%a : !p) -> !t {
    relay.yield %x : !t
  }
  func.return %f : (!p) -> !t
}
