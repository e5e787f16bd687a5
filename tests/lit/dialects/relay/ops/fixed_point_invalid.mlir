// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @multiplier(%x: tensor<4xi32>) {
  // expected-error@below {{[relay.fixed_point_multiply C2] multiplier must be an integer of 32 bits and shift be between -31 and 31, found 2147483648 and 0}}
  %r = relay.fixed_point_multiply(%x) {multiplier = 2147483648, shift = 0} : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @shift(%x: tensor<4xi32>) {
  // expected-error@below {{[relay.fixed_point_multiply C2] multiplier must be an integer of 32 bits and shift be between -31 and 31, found 1 and -32}}
  %r = relay.fixed_point_multiply(%x) {multiplier = 1, shift = -32} : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @ranks(%x: tensor<2x3xi32>, %m: tensor<2x3xi32>) {
  // expected-error@below {{[relay.fixed_point_multiply_per_axis C3] operand #1 has rank 2, axes are [1]}}
  %r = relay.fixed_point_multiply_per_axis(%x, %m, %m, %m) {axes = [1]} : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @extents(%x: tensor<2x3xi32>, %m: tensor<2xi32>) {
  // expected-error@below {{[relay.fixed_point_multiply_per_axis C3] extents of operand #1 and of axis 1: 2 != 3}}
  %r = relay.fixed_point_multiply_per_axis(%x, %m, %m, %m) {axes = [1]} : (tensor<2x3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  func.return
}
