// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.nn.lrn C1] axis 2 is out of range for rank 2}}
  %r = relay.nn.lrn(%x) {axis = 2} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @size(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.nn.lrn C2] size is 0, it must be at least 1}}
  %r = relay.nn.lrn(%x) {size = 0} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @integers(%x: tensor<1x8xi32>) {
  // expected-error@below {{[relay.nn.lrn C3] the element type must be a float, found i32}}
  %r = relay.nn.lrn(%x) : (tensor<1x8xi32>) -> !relay.incomplete
  func.return
}
