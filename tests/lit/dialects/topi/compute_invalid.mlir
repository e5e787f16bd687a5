// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @negative_extent() {
  // expected-error@below {{[topi.compute C1] extent -1 is negative}}
  %r = topi.compute "c" [%i : -1] : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }
  func.return
}

// -----

func.func @missing_accumulator() {
  // expected-error@below {{[topi.compute C1] body takes (index, index), the variables and accumulators are (index, index, f32)}}
  %r = "topi.compute"() <{label = "c", extents = array<i64: 4>, reduce_extents = array<i64: 2>, init = [0.0 : f32]}> ({
  ^bb0(%i: index, %k: index):
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }) : () -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_extent() {
  // expected-error@below {{the extent of index variable %i}}
  %r = topi.compute "c" [%i : ?] : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }
  func.return
}

// -----

func.func @other_shape() {
  // expected-error@below {{[topi.compute C2] result tensor<5xf32> does not have the shape of the index space [4]}}
  %r = topi.compute "c" [%i : 4] : tensor<5xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }
  func.return
}

// -----

func.func @no_init() {
  // expected-error@below {{[topi.compute C3] init has types [], the reduction needs [f32]}}
  %r = topi.compute "c" [%i : 4] reduce [%k : 2] : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
    topi.yield %v : f32
  }
  func.return
}

// -----

func.func @init_without_reduction() {
  // expected-error@below {{[topi.compute C3] init has types [f32], the reduction needs []}}
  %r = topi.compute "c" [%i : 4] init [%acc = 0.0 : f32] : tensor<4xf32> {
    topi.yield %acc : f32
  }
  func.return
}

// -----

func.func @yields_another_type() {
  // expected-error@below {{[topi.compute C4]}}
  %r = topi.compute "c" [%i : 4] : tensor<4xf32> {
    topi.yield %i : index
  }
  func.return
}

// -----

func.func @does_not_yield() {
  // expected-error@below {{a block of topi.compute ends in arith.constant, which is not a terminator}}
  %r = topi.compute "c" [%i : 4] : tensor<4xf32> {
    %v = arith.constant 0.0 : f32
  }
  func.return
}

// -----

func.func @yield_outside(%v: f32) {
  // expected-error@below {{[topi.yield C1]}}
  topi.yield %v : f32
}
