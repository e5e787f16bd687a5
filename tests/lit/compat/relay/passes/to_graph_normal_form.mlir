// RUN: xrelay-opt %s -p relay-to-graph-normal-form | filecheck %s

// Lets are removed, also chains, and their names move to the values; unused values stay.
// CHECK-LABEL: func.func @fires(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %a = relay.exp(%x)
// CHECK-NEXT:    %unused = relay.abs(%a)
// CHECK-NEXT:    %r = relay.negative(%a)
// CHECK-NEXT:    func.return %r
func.func @fires(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.form = "anf"} {
  %0 = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.let "a" = %0 : tensor<4xf32>
  %b = relay.let "b" = %a : tensor<4xf32>
  %1 = relay.abs(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %unused = relay.let "unused" = %1 : tensor<4xf32>
  %2 = relay.negative(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.let "r" = %2 : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Lets of closures and of branches are removed in place; another form is kept.
// CHECK-LABEL: func.func @inside
// CHECK-SAME:    attributes {relay.form = "bbnf"}
// CHECK-NEXT:    %f = relay.fn(%a: tensor<4xf32>)
// CHECK-NEXT:      %e = relay.exp(%a)
// CHECK-NEXT:      relay.yield %e
// CHECK:         relay.invoke %f(%x)
// CHECK-NOT:     relay.let
func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.form = "bbnf"} {
  %0 = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    %1 = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %e = relay.let "e" = %1 : tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  }
  %f = relay.let "f" = %0 : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Unchanged: kernels.
// CHECK-LABEL: func.func private @kernel
// CHECK:         relay.let "v"
func.func private @kernel(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %v = relay.let "v" = %a : tensor<4xf32>
  func.return %v : tensor<4xf32>
}
