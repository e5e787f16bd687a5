// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @bits(%a0: tensor<3x4xi32>, %a1: tensor<3x2xf32>, %a2: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C4] numbers of 3 bits}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 3, block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @words(%a0: tensor<3x4xi32>, %a1: tensor<3x2xf32>, %a2: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C4] blocks of 12 numbers in words of 8}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 4, block_size = 12} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @blocks(%a0: tensor<3x4xi32>, %a1: tensor<3x3xf32>, %a2: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C5] the numbers in words and in blocks differ: 32 != 48}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 4, block_size = 16} : (tensor<3x4xi32>, tensor<3x3xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @packed_zero_points(%a0: tensor<3x4xi32>, %a1: tensor<3x2xf32>, %a2: tensor<3x2xi32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C6]}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 4, block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<3x2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @float_zero_points(%a0: tensor<3x4xi32>, %a1: tensor<3x2xf32>, %a2: tensor<3x1xf32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C6]}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 4, block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<3x1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @rows(%a0: tensor<3x4xi32>, %a1: tensor<4x2xf32>, %a2: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C7]}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 4, block_size = 16} : (tensor<3x4xi32>, tensor<4x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @rows_of_zero_points(%a0: tensor<3x4xi32>, %a1: tensor<3x2xf32>, %a2: tensor<2x1xi32>) {
  // expected-error@below {{[relay.qnn.block_dequantize C7]}}
  %r = relay.qnn.block_dequantize(%a0, %a1, %a2) {bits = 4, block_size = 16} : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<2x1xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_bits(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x2xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C4] numbers of 5 bits}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 5} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_blocks(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x3xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C5]}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x3xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_zero_points(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x2xf32>, %a3: tensor<3x2xi32>) {
  // expected-error@below {{[relay.qnn.block_dense C6]}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<3x2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_layout(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x2xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C7]}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16, weight_layout = "CN"} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_rank(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x2xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C7]}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16, weight_layout = "NC16n"} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_units(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<4x2xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C7] the units of words and of others differ: 3 != 4}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<4x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_depth(%a0: tensor<2x16xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x2xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C8] the blocks of data and weight differ: 1 != 2}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16} : (tensor<2x16xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}

// -----

func.func @dense_columns(%a0: tensor<2x32xf32>, %a1: tensor<3x4xi32>, %a2: tensor<3x2xf32>, %a3: tensor<i32>) {
  // expected-error@below {{[relay.qnn.block_dense C9]}}
  %r = relay.qnn.block_dense(%a0, %a1, %a2, %a3) {bits = 4, block_size = 16, units = 4} : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> !relay.incomplete
  func.return
}
