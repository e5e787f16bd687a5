// RUN: xrelay-opt %s -p relay-to-basic-block-normal-form,relay-check-basic-block-normal-form | filecheck %s
// RUN: not xrelay-opt %s -p relay-check-basic-block-normal-form 2>&1 | filecheck %s --check-prefix REFUSED

// All violations in the order of the text, and a help.
// REFUSED:      relay-check-basic-block-normal-form:
// REFUSED-SAME: relay.exp ({{.*}}:27:3) {{.*}} body of @branches, its uses meet in the first branch of relay.if
// REFUSED-SAME: relay.abs ({{.*}}:28:3) {{.*}} body of @branches, its uses meet in the second branch of relay.if
// REFUSED-SAME: help: run relay-to-basic-block-normal-form

// Accepted: an op that both branches need, constants, ops without a use, a function without branches.
// CHECK-LABEL: func.func @accepted
func.func @accepted(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %both = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %unused = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %s = relay.add(%both, %one) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %both : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @branches
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %e : tensor<4xf32>
  } else {
    %d = relay.add(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %d : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A closure may be called more than once: ops that it uses from outside stay outside.
// CHECK-LABEL: func.func @closure
// CHECK-NEXT:    relay.negative
// CHECK-NEXT:    relay.fn
func.func @closure(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.add(%a, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %r = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// The uses of a call are in two ifs: the call is in the block of both.
// CHECK-LABEL: func.func @two_ifs
// CHECK-NEXT:    func.call @closure
func.func @two_ifs(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %v = func.call @closure(%x) : (tensor<4xf32>) -> tensor<4xf32>
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
