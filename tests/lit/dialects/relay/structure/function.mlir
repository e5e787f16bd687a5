// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @closure(
func.func @closure(%x: tensor<f32>) {
  // CHECK: %f = relay.fn(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %f = relay.fn(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    // CHECK-NEXT: %s = relay.add(%a, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = relay.add(%a, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: relay.yield %s : tensor<f32>
    relay.yield %s : tensor<f32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r = relay.invoke %f(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = relay.invoke %f(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return
}

// CHECK-LABEL: @recursive(
func.func @recursive() {
  // CHECK: %f = relay.fn rec(%self)(%a: tensor<f32>) -> tensor<f32> attributes {note = 1} {
  %f = relay.fn rec(%self)(%a: tensor<f32>) -> tensor<f32> attributes {note = 1} {
    // CHECK-NEXT: %b = relay.invoke %self(%a) : (tensor<f32>) -> tensor<f32>
    %b = relay.invoke %self(%a) : (tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: relay.yield %b : tensor<f32>
    relay.yield %b : tensor<f32>
  // CHECK-NEXT: }
  }
  func.return
}

// CHECK-LABEL: @no_parameters(
func.func @no_parameters(%x: tensor<f32>) {
  // CHECK: %f = relay.fn() -> tensor<f32> {
  %f = relay.fn() -> tensor<f32> {
    // CHECK-NEXT: relay.yield %x : tensor<f32>
    relay.yield %x : tensor<f32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %r = relay.invoke %f() {note = 1} : () -> tensor<f32>
  %r = relay.invoke %f() {note = 1} : () -> tensor<f32>
  func.return
}

// CHECK-LABEL: @function_result(
func.func @function_result(%x: tensor<f32>) {
  // CHECK: %f = relay.fn() -> () -> tensor<f32> {
  %f = relay.fn() -> () -> tensor<f32> {
    // CHECK-NEXT: %g = relay.fn() -> tensor<f32> {
    %g = relay.fn() -> tensor<f32> {
      // CHECK-NEXT: relay.yield %x : tensor<f32>
      relay.yield %x : tensor<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: relay.yield %g : () -> tensor<f32>
    relay.yield %g : () -> tensor<f32>
  // CHECK-NEXT: }
  }
  func.return
}

// CHECK-LABEL: @unknown_callee(
func.func @unknown_callee(%f: !relay.incomplete, %x: tensor<f32>) {
  // CHECK: %r = relay.invoke %f(%x) : (tensor<f32>) -> !relay.incomplete of !relay.incomplete
  %r = relay.invoke %f(%x) : (tensor<f32>) -> !relay.incomplete of !relay.incomplete
  func.return
}
