// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @negative_extent() {
  // expected-error@below {{[topi.scan C1] extent -1 is negative}}
  %r = topi.scan "c" [%i : -1] along %i init [%a = 0.0 : f32] : tensor<4xf32> {
    topi.yield %a : f32
  }
  func.return
}

// -----

func.func @another_shape() {
  // expected-error@below {{[topi.scan C2] result tensor<5xf32> does not have the shape of the index space [4]}}
  %r = topi.scan "c" [%i : 4] along %i init [%a = 0.0 : f32] : tensor<5xf32> {
    topi.yield %a : f32
  }
  func.return
}

// -----

func.func @another_accumulator() {
  // expected-error@below {{[topi.scan C3] init has types [f64], the reduction needs [f32]}}
  %r = topi.scan "c" [%i : 4] along %i init [%a = 0.0 : f64] : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }
  func.return
}

// -----

func.func @yields_too_little() {
  // expected-error@below {{[topi.scan C4]}}
  %r = topi.scan "c" [%i : 4] along %i init [%a = 0.0 : f32] : tensor<4xf32> {
    topi.yield
  }
  func.return
}

// -----

func.func @axis_outside() {
  // expected-error@below {{[topi.scan C5] axis 1 of an index space of rank 1}}
  %r = "topi.scan"() <{label = "c", extents = array<i64: 4>, axis = 1 : i64, init = [0.0 : f32]}> ({
  ^bb0(%i: index, %a: f32):
    topi.yield %a : f32
  }) : () -> tensor<4xf32>
  func.return
}

// -----

func.func @along_nothing() {
  // expected-error@below {{%j is not one of the variables %i}}
  %r = topi.scan "c" [%i : 4] along %j init [%a = 0.0 : f32] : tensor<4xf32> {
    topi.yield %a : f32
  }
  func.return
}
