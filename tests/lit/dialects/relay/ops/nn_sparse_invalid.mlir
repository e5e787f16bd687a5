// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<2x8xf32>, %v: tensor<5x2xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_dense C6] needs ranks 2, and 1 or 3, found 2 and 2}}
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5x2xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @columns(%x: tensor<2x8xf32>, %v: tensor<5xf32>, %i: tensor<6xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_dense C7] blocks, and their columns: 5 != 6}}
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5xf32>, tensor<6xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_indptr(%x: tensor<2x8xf32>, %v: tensor<5xf32>, %i: tensor<5xi32>, %p: tensor<0xi32>) {
  // expected-error@below {{[relay.nn.sparse_dense C7] elements of indptr 0 is less than 1}}
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5xf32>, tensor<5xi32>, tensor<0xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @blocks(%x: tensor<2x8xf32>, %v: tensor<5x2x3xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_dense C8] 8 columns modulo 3: 2 != 0}}
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5x2x3xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_rows(%x: tensor<2x8xf32>, %v: tensor<5x0x2xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_dense C8] rows of a block 0 is less than 1}}
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5x0x2xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @booleans(%x: tensor<2x8xi1>, %v: tensor<5xi1>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_dense C9]}}
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xi1>, tensor<5xi1>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv2d_rank(%x: tensor<2x8xf32>, %v: tensor<5x2xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_conv2d C7] needs ranks 4, and 2 or 3, found 2 and 2}}
  %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5x2xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv2d_columns(%x: tensor<1x4x4x8xf32>, %v: tensor<5x2xf32>, %i: tensor<4xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_conv2d C8] blocks, and their columns: 5 != 4}}
  %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) : (tensor<1x4x4x8xf32>, tensor<5x2xf32>, tensor<4xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv2d_blocks(%x: tensor<1x4x4x8xf32>, %v: tensor<5x2x5xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_conv2d C9] 72 columns modulo 5: 2 != 0}}
  %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {kernel_size = [3, 3]} : (tensor<1x4x4x8xf32>, tensor<5x2x5xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv2d_even(%x: tensor<1x4x4x8xf32>, %v: tensor<5x2xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_conv2d C10]}}
  %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {kernel_size = [2, 2]} : (tensor<1x4x4x8xf32>, tensor<5x2xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @conv2d_booleans(%x: tensor<1x4x4x8xi1>, %v: tensor<5x2xi1>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_conv2d C11]}}
  %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) : (tensor<1x4x4x8xi1>, tensor<5x2xi1>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_rank(%x: tensor<3x8xf32>, %v: tensor<5x2x2xf32>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_add C6] needs ranks 2 and 1, found 2 and 3}}
  %y = relay.nn.sparse_add(%x, %v, %i, %p) : (tensor<3x8xf32>, tensor<5x2x2xf32>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_columns(%x: tensor<3x8xf32>, %v: tensor<5xf32>, %i: tensor<6xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_add C7] values, and their columns: 5 != 6}}
  %y = relay.nn.sparse_add(%x, %v, %i, %p) : (tensor<3x8xf32>, tensor<5xf32>, tensor<6xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_rows(%x: tensor<3x8xf32>, %v: tensor<5xf32>, %i: tensor<5xi32>, %p: tensor<5xi32>) {
  // expected-error@below {{[relay.nn.sparse_add C7] elements of indptr, and rows and one: 5 != 4}}
  %y = relay.nn.sparse_add(%x, %v, %i, %p) : (tensor<3x8xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_booleans(%x: tensor<3x8xi1>, %v: tensor<5xi1>, %i: tensor<5xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_add C8]}}
  %y = relay.nn.sparse_add(%x, %v, %i, %p) : (tensor<3x8xi1>, tensor<5xi1>, tensor<5xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transpose_columns(%v: tensor<5xf32>, %i: tensor<6xi32>, %p: tensor<4xi32>) {
  // expected-error@below {{[relay.nn.sparse_transpose C6] values, and their columns: 5 != 6}}
  %y = relay.nn.sparse_transpose(%v, %i, %p) : (tensor<5xf32>, tensor<6xi32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @transpose_no_indptr(%v: tensor<0xf32>, %i: tensor<0xi32>, %p: tensor<0xi32>) {
  // expected-error@below {{[relay.nn.sparse_transpose C6] elements of indptr 0 is less than 1}}
  %y = relay.nn.sparse_transpose(%v, %i, %p) : (tensor<0xf32>, tensor<0xi32>, tensor<0xi32>) -> !relay.incomplete
  func.return
}
