// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @argsort_dtype(%x: tensor<8xf32>) {
  // expected-error@below {{[relay.argsort C2]}}
  %r = relay.argsort(%x) {dtype = f16} : (tensor<8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_k(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.topk C2] k is 9, the axis has 8 elements}}
  %r = relay.topk(%x) {k = 9} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_dtype(%x: tensor<8xf32>) {
  // expected-error@below {{[relay.topk C4]}}
  %r = relay.topk(%x) {dtype = i8} : (tensor<8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dyn_topk_k(%x: tensor<1x8xf32>, %k: tensor<2xi64>) {
  // expected-error@below {{[relay.dyn.topk C2] k must be one integer, found tensor<2xi64>}}
  %r = relay.dyn.topk(%x, %k) : (tensor<1x8xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @dyn_topk_dtype(%x: tensor<8xf32>, %k: tensor<i64>) {
  // expected-error@below {{[relay.dyn.topk C4]}}
  %r = relay.dyn.topk(%x, %k) {dtype = i8} : (tensor<8xf32>, tensor<i64>) -> !relay.incomplete
  func.return
}
