// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @let_result(%e: tensor<4xf32>) {
  // expected-error@below {{[relay.let C0]}}
  %v = "relay.let"(%e) <{variable = "v"}> : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @condition(%c: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.if C1] the condition must be tensor<i1>, found tensor<1xi1>}}
  %r = relay.if %c : tensor<1xi1> -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return
}

// -----

func.func @no_yield(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.if C2] a region must end in relay.yield}}
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    // expected-error@below {{'func.return' expects parent op}}
    func.return
  }
  func.return
}

// -----

func.func @arguments(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.if C2] a region has 1 arguments, must have 0}}
  %r = "relay.if"(%c) ({
    relay.yield %x : tensor<4xf32>
  }, {
  ^bb0(%z: tensor<4xf32>):
    relay.yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  func.return
}

// -----

func.func @types(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{[relay.if C3] a region yields tensor<4xf32>, the result is tensor<5xf32>}}
  %r = relay.if %c : tensor<i1> -> tensor<5xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return
}

// -----

func.func @place(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.yield C1]}}
  relay.yield %x : tensor<4xf32>
}
