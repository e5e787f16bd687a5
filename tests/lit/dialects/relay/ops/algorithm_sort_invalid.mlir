// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @sort_axis(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.sort C1] axis 2 is out of range for rank 2}}
  %r = relay.sort(%x) {axis = 2} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @argsort_axis(%x: tensor<f32>) {
  // expected-error@below {{[relay.argsort C1] axis -1 is out of range for rank 0}}
  %r = relay.argsort(%x) : (tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @argsort_dtype(%x: tensor<8xf32>) {
  // expected-error@below {{[relay.argsort C2] places along an axis are i32 or i64, not f32}}
  %r = relay.argsort(%x) {dtype = f32} : (tensor<8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_axis(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.topk C1] axis -3 is out of range for rank 2}}
  %r = relay.topk(%x) {axis = -3} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_k(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.topk C2] k is 9, the axis has 8 elements}}
  %r = relay.topk(%x) {k = 9} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_ret_type(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.topk C3] ret_type must be one of both, values, indices, found 'all'}}
  %r = relay.topk(%x) {ret_type = "all"} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_dtype(%x: tensor<8xf32>) {
  // expected-error@below {{[relay.topk C4] places along an axis are i32 or i64, not i8}}
  %r = relay.topk(%x) {dtype = i8} : (tensor<8xf32>) -> !relay.incomplete
  func.return
}
