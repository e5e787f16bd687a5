// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_function() {
  // expected-error@below {{[relay.fn C1] the type must be a function type with one result, found tensor<f32>}}
  %f = "relay.fn"() ({
  ^bb0(%a: tensor<f32>):
    relay.yield %a : tensor<f32>
  }) : () -> tensor<f32>
  func.return
}

// -----

func.func @no_yield() {
  // expected-error@below {{[relay.fn C2] a region must end in relay.yield}}
  %f = relay.fn(%a: tensor<f32>) -> tensor<f32> {
    // expected-error@below {{'func.return' expects parent op}}
    func.return
  }
  func.return
}

// -----

func.func @no_self(%x: tensor<f32>) {
  // expected-error@below {{[relay.fn C2]}}
  %f = "relay.fn"() <{recursive}> ({
    relay.yield %x : tensor<f32>
  }) : () -> (() -> tensor<f32>)
  func.return
}

// -----

func.func @result() {
  // expected-error@below {{[relay.fn C3] a region yields tensor<f32>, the result is tensor<i32>}}
  %f = relay.fn(%a: tensor<f32>) -> tensor<i32> {
    relay.yield %a : tensor<f32>
  }
  func.return
}

// -----

func.func @parameters() {
  // expected-error@below {{[relay.fn C4] the parameters have types (tensor<f32>)}}
  %f = "relay.fn"() ({
  ^bb0(%a: tensor<f32>):
    relay.yield %a : tensor<f32>
  }) : () -> ((tensor<i32>) -> tensor<f32>)
  func.return
}

// -----

func.func @itself() {
  // expected-error@below {{[relay.fn C4]}}
  %f = "relay.fn"() <{recursive}> ({
  ^bb0(%self: tensor<i32>, %a: tensor<f32>):
    relay.yield %a : tensor<f32>
  }) : () -> ((tensor<f32>) -> tensor<f32>)
  func.return
}

// -----

func.func @callee(%x: tensor<f32>) {
  // expected-error@below {{[relay.invoke C1] the callee must be a function with one result, found tensor<f32>}}
  %r = relay.invoke %x(%x) : (tensor<f32>) -> tensor<f32> of tensor<f32>
  func.return
}

// -----

func.func @argument_count(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) {
  // expected-error@below {{[relay.invoke C2] 2 arguments for a function of 1 parameters}}
  %r = relay.invoke %f(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32> of (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @argument_type(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<i32>) {
  // expected-error@below {{[relay.invoke C2] argument #0 is tensor<i32>, must be tensor<f32>}}
  %r = relay.invoke %f(%x) : (tensor<i32>) -> tensor<f32> of (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @result_type(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) {
  // expected-error@below {{[relay.invoke C3] the result is tensor<i32>, the function returns tensor<f32>}}
  %r = relay.invoke %f(%x) : (tensor<f32>) -> tensor<i32> of (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @no_self_and_no_type(%x: tensor<f32>) {
  // expected-error@below {{[relay.fn C2]}}
  %f = "relay.fn"() <{recursive}> ({
    relay.yield %x : tensor<f32>
  }) : () -> !relay.incomplete
  func.return
}
