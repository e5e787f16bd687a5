// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @slice_lengths(%x: tensor<8xf32>, %b: tensor<1xi64>, %e: tensor<2xi64>) {
  // expected-error@below {{[relay.dyn.strided_slice C1]}}
  %s = relay.dyn.strided_slice(%x, %b, %e, %b) : (tensor<8xf32>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @slice_integers(%x: tensor<8xf32>, %b: tensor<1xi64>, %s: tensor<1xf32>) {
  // expected-error@below {{[relay.dyn.strided_slice C1]}}
  %r = relay.dyn.strided_slice(%x, %b, %b, %s) : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @slice_rank(%x: tensor<8xf32>, %b: tensor<2xi64>) {
  // expected-error@below {{[relay.dyn.strided_slice C1] 2 numbers for data of rank 1}}
  %r = relay.dyn.strided_slice(%x, %b, %b, %b) : (tensor<8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !relay.incomplete
  func.return
}
