// RUN: xrelay-opt %s -p relay-to-a-normal-form | filecheck %s
// RUN: xrelay-opt %s -p relay-to-a-normal-form,relay-to-a-normal-form | filecheck %s
// RUN: xrelay-opt %s -p relay-to-a-normal-form,relay-to-graph-normal-form | filecheck %s --check-prefix BACK

// Every result is bound, in the innermost block that contains all its uses; parameters and constants are not bound.
// CHECK-LABEL: func.func @fires
// CHECK-SAME:    attributes {relay.form = "anf"}
// CHECK-NEXT:    %[[A:.*]] = relay.abs(%x)
// CHECK-NEXT:    %b = relay.let "b" = %[[A]]
// CHECK-NEXT:    %[[R:.*]] = relay.if
// CHECK-NEXT:      %one = relay.constant
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:      %e = relay.let "e" = %[[E]]
// CHECK-NEXT:      %[[S:.*]] = relay.add(%e, %one)
// CHECK-NEXT:      %[[X:.*]] = relay.let "x_1" = %[[S]]
// CHECK-NEXT:      relay.yield %[[X]]
// CHECK:           relay.yield %b
// CHECK:         %r = relay.let "r" = %[[R]]
// CHECK-NEXT:    %[[T:.*]] = relay.add(%r, %b)
// CHECK-NEXT:    %[[U:.*]] = relay.let "x" = %[[T]]
// CHECK-NEXT:    func.return %[[U]]
// BACK-LABEL: func.func @fires
// BACK-NOT:     relay.form
// BACK-NOT:     relay.let
// BACK:         %b = relay.abs(%x)
// BACK:         %e = relay.exp(%x)
func.func @fires(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %0 = relay.add(%e, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %0 : tensor<4xf32>
  } else {
    relay.yield %b : tensor<4xf32>
  }
  %1 = relay.add(%r, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// A value bound by a let has its name; another let must not take it.
// CHECK-LABEL: func.func @bound
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:    %v = relay.let "a" = %[[E]]
// CHECK-NEXT:    %[[N:.*]] = relay.negative(%v)
// CHECK-NEXT:    %a = relay.let "a_1" = %[[N]]
func.func @bound(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.let "a" = %e : tensor<4xf32>
  %a = relay.negative(%v) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// A value that is bound by a let and has other users gets a second let for these, and no third one in the next run.
// CHECK-LABEL: func.func @bound_and_used
// CHECK-NEXT:    %[[E:.*]] = relay.exp(%x)
// CHECK-NEXT:    %e = relay.let "e" = %[[E]]
// CHECK-NEXT:    %v = relay.let "a" = %[[E]]
// CHECK-NEXT:    %[[R:.*]] = relay.add(%v, %e)
func.func @bound_and_used(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.let "a" = %e : tensor<4xf32>
  %r = relay.add(%v, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Unchanged: kernels, and the inside of groups.
// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT:    relay.nn.relu
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @groups
// CHECK:           %y = relay.nn.relu(%p)
// CHECK-NEXT:      relay.yield %y
// CHECK:         %g = relay.let "g"
func.func private @kernel(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %m = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}
func.func @groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = relay.fused @f(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
    %y = relay.nn.relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  }
  func.return %g : tensor<4xf32>
}

// A let fixes the block of its value.
// CHECK-LABEL: func.func @lets
// CHECK-NEXT:    %[[L:.*]] = relay.log(%x)
// CHECK-NEXT:    %v = relay.let "v" = %[[L]]
// CHECK-NEXT:    relay.if
func.func @lets(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %l = relay.log(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.let "v" = %l : tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %v : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
