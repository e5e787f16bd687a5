// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @longer_than_the_axis(%x: tensor<4x2xf32>, %c: tensor<3xi1>) {
  // expected-error@below {{[relay.compress C4] a condition of 3 for an axis of 2}}
  %y = relay.compress(%x, %c) {axis = 1} : (tensor<4x2xf32>, tensor<3xi1>) -> !relay.incomplete
  func.return
}
