// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @matmul_depth(%x: tensor<2x5xf32>, %y: tensor<6x4xf32>) {
  // expected-error@below {{[relay.nn.matmul C3] the depths of tensor_a and tensor_b differ: 5 != 6}}
  %r = relay.nn.matmul(%x, %y) : (tensor<2x5xf32>, tensor<6x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matmul_depth_transposed(%x: tensor<5x2xf32>, %y: tensor<4x6xf32>) {
  // expected-error@below {{[relay.nn.matmul C3] the depths of tensor_a and tensor_b differ: 5 != 6}}
  %r = relay.nn.matmul(%x, %y) {transpose_a = true, transpose_b = true} : (tensor<5x2xf32>, tensor<4x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matmul_units(%x: tensor<2x5xf32>, %y: tensor<5x4xf32>) {
  // expected-error@below {{[relay.nn.matmul C4] tensor_b's columns and units differ: 4 != 5}}
  %r = relay.nn.matmul(%x, %y) {units = 5} : (tensor<2x5xf32>, tensor<5x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matmul_out_dtype(%x: tensor<2x5xf32>, %y: tensor<5x4xf32>) {
  // expected-error@below {{[relay.nn.matmul C5] out_dtype i32 cannot hold sums of products of f32; help: cast the operands before, or the result after}}
  %r = relay.nn.matmul(%x, %y) {out_dtype = i32} : (tensor<2x5xf32>, tensor<5x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matmul_narrow(%x: tensor<2x5xi32>, %y: tensor<5x4xi32>) {
  // expected-error@below {{[relay.nn.matmul C5] out_dtype i8 cannot hold sums of products of i32; help: cast the operands before, or the result after}}
  %r = relay.nn.matmul(%x, %y) {out_dtype = i8} : (tensor<2x5xi32>, tensor<5x4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch_matmul_depth(%x: tensor<3x2x5xf32>, %y: tensor<3x5x4xf32>) {
  // expected-error@below {{[relay.nn.batch_matmul C3] the depths of tensor_a and tensor_b differ: 5 != 4}}
  %r = relay.nn.batch_matmul(%x, %y) : (tensor<3x2x5xf32>, tensor<3x5x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch_matmul_stacks(%x: tensor<3x2x5xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error@below {{[relay.nn.batch_matmul C4] stacks of shapes (3) and (2) do not broadcast}}
  %r = relay.nn.batch_matmul(%x, %y) : (tensor<3x2x5xf32>, tensor<2x4x5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch_matmul_out_dtype(%x: tensor<3x2x5xf64>, %y: tensor<3x4x5xf64>) {
  // expected-error@below {{[relay.nn.batch_matmul C5] out_dtype f32 cannot hold sums of products of f64; help: cast the operands before, or the result after}}
  %r = relay.nn.batch_matmul(%x, %y) {out_dtype = f32} : (tensor<3x2x5xf64>, tensor<3x4x5xf64>) -> !relay.incomplete
  func.return
}
