// RUN: xrelay-opt %s -p 'relay-merge-composite{chains="acme.cbr:nn.conv2d:nn.bias_add?:nn.relu|tanh","acme.er:exp:nn.relu"}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-merge-composite{chains="acme.cbr:nn.conv2d:nn.bias_add?:nn.relu|tanh"},relay-inline' | filecheck %s --check-prefix=INLINED
// RUN: xrelay-opt %s -p relay-merge-composite | filecheck %s --check-prefix=NOTHING
// NOTHING-NOT: relay.fn
// INLINED-NOT: relay.fn

!x = tensor<1x3x8x8xf32>
!y = tensor<1x4x8x8xf32>
!w = tensor<4x3x1x1xf32>

// CHECK-LABEL: @chain(
// CHECK-NEXT:    %[[F:.*]] = relay.fn(%p0: tensor<1x3x8x8xf32>, %p1: tensor<4x3x1x1xf32>, %p2: tensor<4xf32>) -> tensor<1x4x8x8xf32> attributes {Composite = "acme.cbr", PartitionedFromPattern = "nn.conv2d_nn.bias_add_nn.relu_"} {
// CHECK-NEXT:      %[[C:.*]] = relay.nn.conv2d(%p0, %p1)
// CHECK-NEXT:      %[[B:.*]] = relay.nn.bias_add(%[[C]], %p2)
// CHECK-NEXT:      %[[R:.*]] = relay.nn.relu(%[[B]])
// CHECK-NEXT:      relay.yield %[[R]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[Y:.*]] = relay.invoke %[[F]](%x, %w, %b)
// CHECK-NEXT:    func.return %[[Y]]
// INLINED-LABEL: @chain(
// INLINED:         relay.nn.conv2d(%x, %w)
// INLINED-NEXT:    relay.nn.bias_add(
// INLINED-NEXT:    relay.nn.relu(
func.func @chain(%x: !x, %w: !w, %b: tensor<4xf32>) -> !y {
  %c = relay.nn.conv2d(%x, %w) : (!x, !w) -> !y
  %a = relay.nn.bias_add(%c, %b) : (!y, tensor<4xf32>) -> !y
  %r = relay.nn.relu(%a) : (!y) -> !y
  func.return %r : !y
}

// The second match reads the result of the first; an op in neither stays.
// CHECK-LABEL: @rows_in_order(
// CHECK:         PartitionedFromPattern = "nn.conv2d_tanh_"
// CHECK:         %[[T:.*]] = relay.invoke %{{.*}}(%x, %w)
// CHECK-NEXT:    %[[G:[0-9]+]] = relay.fn({{.*}}Composite = "acme.er", PartitionedFromPattern = "exp_nn.relu_"
// CHECK:         %[[E:.*]] = relay.invoke %[[G]](%[[T]])
// CHECK-NEXT:    relay.exp(%[[E]])
func.func @rows_in_order(%x: !x, %w: !w) -> !y {
  %c = relay.nn.conv2d(%x, %w) : (!x, !w) -> !y
  %t = relay.tanh(%c) : (!y) -> !y
  %e = relay.exp(%t) : (!y) -> !y
  %r = relay.nn.relu(%e) : (!y) -> !y
  %s = relay.exp(%r) : (!y) -> !y
  func.return %s : !y
}

// A part that is returned, or used by another op, is needed outside of the match.
// CHECK-LABEL: @used_outside(
// CHECK-NOT:     relay.fn
func.func @used_outside(%x: !y) -> (!y, !y, !y) {
  %e = relay.exp(%x) : (!y) -> !y
  %r = relay.nn.relu(%e) : (!y) -> !y
  %f = relay.exp(%r) : (!y) -> !y
  %s = relay.nn.relu(%f) : (!y) -> !y
  %t = relay.negative(%f) : (!y) -> !y
  func.return %e, %s, %t : !y, !y, !y
}

// Matches in branches and closures; a match may contain an op from outside of its branch.
// CHECK-LABEL: @in_a_branch(
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      %[[F:.*]] = relay.fn(%{{.*}}: tensor<4xf32>)
// CHECK:           relay.invoke %[[F]](%x)
// CHECK:         } else {
// CHECK-NEXT:      relay.yield %x
func.func @in_a_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %r = relay.nn.relu(%e) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: @kernel(
// CHECK-NOT:     relay.fn
func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.nn.relu(%e) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: @of_another_compiler(
// CHECK-NOT:     relay.fn
func.func @of_another_compiler(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "acme"} {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.nn.relu(%e) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
