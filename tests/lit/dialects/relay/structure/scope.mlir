// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @let(
func.func @let(%e: tensor<4xf32>) {
  // CHECK: %v = relay.let "v" = %e : tensor<4xf32>
  %v = relay.let "v" = %e : tensor<4xf32>
  func.return
}

// CHECK-LABEL: @let_attributes(
func.func @let_attributes(%e: tensor<4xf32>) {
  // CHECK: %v = relay.let {note = 1} "v" = %e : tensor<4xf32>
  %v = relay.let {note = 1} "v" = %e : tensor<4xf32>
  func.return
}

// CHECK-LABEL: @if(
func.func @if(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    // CHECK-NEXT: %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: relay.yield %n : tensor<4xf32>
    relay.yield %n : tensor<4xf32>
  // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT: relay.yield %y : tensor<4xf32>
    relay.yield %y : tensor<4xf32>
  // CHECK-NEXT: }
  }
  func.return
}

// CHECK-LABEL: @if_incomplete(
func.func @if_incomplete(%c: !relay.incomplete, %x: !relay.incomplete) {
  // CHECK: %r = relay.if %c : !relay.incomplete -> !relay.incomplete attributes {note = "n"} {
  %r = relay.if %c : !relay.incomplete -> !relay.incomplete attributes {note = "n"} {
    // CHECK-NEXT: relay.yield %x : !relay.incomplete
    relay.yield %x : !relay.incomplete
  // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT: relay.yield %x : !relay.incomplete
    relay.yield %x : !relay.incomplete
  // CHECK-NEXT: }
  }
  func.return
}
