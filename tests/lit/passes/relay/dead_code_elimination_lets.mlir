// RUN: xrelay-opt %s -p 'relay-dead-code-elimination{inline-once=true}' | filecheck %s
// RUN: xrelay-opt %s -p relay-dead-code-elimination | filecheck %s --check-prefix=KEPT

// A let with one use is removed, a let with two uses or a use in a branch stays; the form is kept.
// CHECK-LABEL: @lets(
// CHECK-SAME:    relay.form = "bbnf"
// CHECK-NOT:     "once"
// CHECK:         %b = relay.let "twice"
// CHECK-NEXT:    relay.add(%b, %b)
// CHECK-NEXT:    %d = relay.let "inside"
// CHECK-NOT:     "unused"
// KEPT-LABEL: @lets(
// KEPT-SAME:     relay.form = "anf"
// KEPT:          relay.let "once"
// KEPT-NOT:      "unused"
func.func @lets(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> attributes {relay.form = "anf"} {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.let "once" = %e : tensor<4xf32>
  %f = relay.negative(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.let "twice" = %f : tensor<4xf32>
  %c = relay.add(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.let "inside" = %c : tensor<4xf32>
  %u = relay.let "unused" = %c : tensor<4xf32>
  %r = relay.if %p : tensor<i1> -> tensor<4xf32> {
    relay.yield %d : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
