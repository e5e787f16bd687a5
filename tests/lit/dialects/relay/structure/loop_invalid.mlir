// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @endless() {
  // expected-error@below {{[relay.loop C1]}}
  %r = relay.loop(%i) -> tuple<> {
    %y = relay.tuple() : () -> tuple<>
    relay.yield %y : tuple<>
  }
  func.return
}

// -----

func.func @count_type(%n: tensor<i32>) {
  // expected-error@below {{[relay.loop C1]}}
  %r = relay.loop(%i) to %n : tensor<i32> -> tuple<> {
    %y = relay.tuple() : () -> tuple<>
    relay.yield %y : tuple<>
  }
  func.return
}

// -----

func.func @arguments(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.loop C2] the body has 1 arguments, must have 2: the number of the iteration and the carried values}}
  %r = "relay.loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>):
    %y = relay.tuple(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }) : (tensor<i64>, tensor<4xf32>) -> tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @number(%n: tensor<i64>) {
  // expected-error@below {{[relay.loop C2] the number of the iteration is tensor<i32>, must be tensor<i64>}}
  %r = "relay.loop"(%n) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: tensor<i32>):
    %y = relay.tuple() : () -> tuple<>
    relay.yield %y : tuple<>
  }) : (tensor<i64>) -> tuple<>
  func.return
}

// -----

func.func @no_yield(%n: tensor<i64>) {
  // expected-error@below {{[relay.loop C2] the body must end in relay.yield}}
  %r = relay.loop(%i) to %n : tensor<i64> -> tuple<> {
    // expected-error@below {{'func.return' expects parent op}}
    func.return
  }
  func.return
}

// -----

func.func @initial(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.loop C3] an initial value is tensor<4xf32>, must be tensor<5xf32>}}
  %r = relay.loop(%i, %s : tensor<5xf32> = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<5xf32>> {
    %y = relay.tuple(%s) : (tensor<5xf32>) -> tuple<tensor<5xf32>>
    relay.yield %y : tuple<tensor<5xf32>>
  }
  func.return
}

// -----

func.func @no_tuple(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.loop C4] the body yields tensor<4xf32>, must be a tuple of 1 values or more}}
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    relay.yield %s : tensor<4xf32>
  }
  func.return
}

// -----

func.func @yielded_condition(%c: tensor<i1>) {
  // expected-error@below {{[relay.loop C4] a value that the body yields is tensor<i64>, must be tensor<i1>}}
  %r = relay.loop(%i) while %c : tensor<i1> -> tuple<> {
    %y = relay.tuple(%i) : (tensor<i64>) -> tuple<tensor<i64>>
    relay.yield %y : tuple<tensor<i64>>
  }
  func.return
}

// -----

func.func @stacked_tuple(%n: tensor<i64>) {
  // expected-error@below {{[relay.loop C4]}}
  %r = relay.loop(%i) to %n : tensor<i64> -> tuple<tuple<>> {
    %e = relay.tuple() : () -> tuple<>
    %y = relay.tuple(%e) : (tuple<>) -> tuple<tuple<>>
    relay.yield %y : tuple<tuple<>>
  }
  func.return
}

// -----

func.func @result_count(%n: tensor<i64>) {
  // expected-error@below {{[relay.loop C5] the result is tuple<>, must be a tuple of 1 values}}
  %r = relay.loop(%i) to %n : tensor<i64> -> tuple<> {
    %y = relay.tuple(%i) : (tensor<i64>) -> tuple<tensor<i64>>
    relay.yield %y : tuple<tensor<i64>>
  }
  func.return
}

// -----

func.func @carried_result(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.loop C5] a carried value in the result is tensor<5xf32>, must be tensor<4xf32>}}
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<5xf32>> {
    %y = relay.tuple(%s) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  func.return
}

// -----

func.func @stack(%n: tensor<i64>) {
  // expected-error@below {{[relay.loop C5]}}
  %r = relay.loop(%i) to %n : tensor<i64> -> tuple<tensor<?x3xi64, #relay.dims<k>>> {
    %y = relay.tuple(%i) : (tensor<i64>) -> tuple<tensor<i64>>
    relay.yield %y : tuple<tensor<i64>>
  }
  func.return
}
