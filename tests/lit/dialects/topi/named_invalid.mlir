// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @conv_rank(%x: tensor<1x8x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{[topi.conv2d_nchw C1] data has rank 3, not 4}}
  %r = topi.conv2d_nchw(%x, %w) : (tensor<1x8x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf32>
  func.return
}

// -----

func.func @conv_strides(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{[topi.conv2d_nchw C2] strides is [2], not two positive numbers}}
  %r = topi.conv2d_nchw(%x, %w) {strides = array<i64: 2>} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf32>
  func.return
}

// -----

func.func @conv_padding(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{[topi.conv2d_nchw C2] padding is [0, 0, 0, -1], not four numbers of at least 0}}
  %r = topi.conv2d_nchw(%x, %w) {padding = array<i64: 0, 0, 0, -1>} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf32>
  func.return
}

// -----

func.func @conv_groups(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{[topi.conv2d_nchw C3]}}
  %r = topi.conv2d_nchw(%x, %w) {groups = 2 : i64} : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf32>
  func.return
}

// -----

func.func @conv_result(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{[topi.conv2d_nchw C4] result has shape [1, 16, 9, 9], not [1, 16, 7, 7]}}
  %r = topi.conv2d_nchw(%x, %w) : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x9x9xf32>
  func.return
}

// -----

func.func @conv_types(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{[topi.conv2d_nchw C5] result of f16 cannot hold sums of products of f32}}
  %r = topi.conv2d_nchw(%x, %w) : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf16>
  func.return
}

// -----

func.func @conv_dynamic(%x: tensor<?x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) {
  // expected-error@below {{tensor<?x8x9x9xf32> has an unnamed dynamic dimension: the extents of topi are integers or}}
  %r = topi.conv2d_nchw(%x, %w) : (tensor<?x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x7xf32>
  func.return
}

// -----

func.func @blocked_rank(%x: tensor<1x8x9x9xf32>, %w: tensor<2x1x3x3x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc C1] data has rank 4, not 5}}
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x8x9x9xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @blocked_dilation(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x1x3x3x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc C2] dilation is [0, 1], not two positive numbers}}
  %r = topi.conv2d_nchwc(%x, %w) {dilation = array<i64: 0, 1>} : (tensor<1x1x9x9x8xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @blocked_groups(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc C3]}}
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x1x9x9x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @blocked_result(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x1x3x3x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc C4] result has shape [1, 2, 7, 6, 8], not [1, 2, 7, 7, 8]}}
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x1x9x9x8xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x6x8xf32>
  func.return
}

// -----

func.func @blocked_types(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x1x3x3x8x8xf64>) {
  // expected-error@below {{[topi.conv2d_nchwc C5] data of f32 and weight of f64 differ}}
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x1x9x9x8xf32>, tensor<2x1x3x3x8x8xf64>) -> tensor<1x2x7x7x8xf64>
  func.return
}

// -----

func.func @blocked_blocks(%x: tensor<1x2x9x9x4xf32>, %w: tensor<2x1x3x3x8x8xf32>) {
  // expected-error@below {{[topi.conv2d_nchwc C6] blocks of 4 data, 8 weight and 8 result channels do not fit 1 groups of depth 8}}
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x2x9x9x4xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
  func.return
}

// -----

func.func @matmul_rank(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error@below {{[topi.matmul C1] weight has rank 1, not 2 or 3}}
  %r = topi.matmul(%x, %w) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

func.func @matmul_depth(%x: tensor<4x8xf32>, %w: tensor<6x7xf32>) {
  // expected-error@below {{[topi.matmul C2] data has rows of 8 elements, weight of 7}}
  %r = topi.matmul(%x, %w) : (tensor<4x8xf32>, tensor<6x7xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

func.func @matmul_result(%x: tensor<4x8xf32>, %w: tensor<2x8x16xf32>) {
  // expected-error@below {{[topi.matmul C3] result has shape [4, 2], not [4, 32]}}
  %r = topi.matmul(%x, %w) : (tensor<4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x2xf32>
  func.return
}

// -----

func.func @matmul_types(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) {
  // expected-error@below {{[topi.matmul C4] result of f32 cannot hold sums of products of i8}}
  %r = topi.matmul(%x, %w) : (tensor<4x8xi8>, tensor<6x8xi8>) -> tensor<4x6xf32>
  func.return
}

// -----

func.func @stack_rank(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // expected-error@below {{[topi.batch_matmul C1] left has rank 2, right has rank 1; both need at least two axes}}
  %r = topi.batch_matmul(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @stack_depth(%x: tensor<4x8xf32>, %y: tensor<8x5xf32>) {
  // expected-error@below {{[topi.batch_matmul C2] left has a depth of 8, right of 5}}
  %r = topi.batch_matmul(%x, %y) {transpose_right = true} : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @stacks(%x: tensor<2x4x8xf32>, %y: tensor<3x8x5xf32>) {
  // expected-error@below {{[topi.batch_matmul C3] stacks [2] and [3] do not broadcast}}
  %r = topi.batch_matmul(%x, %y) : (tensor<2x4x8xf32>, tensor<3x8x5xf32>) -> tensor<2x4x5xf32>
  func.return
}

// -----

func.func @stack_result(%x: tensor<2x4x8xf32>, %y: tensor<8x5xf32>) {
  // expected-error@below {{[topi.batch_matmul C3] result has shape [4, 5], not [2, 4, 5]}}
  %r = topi.batch_matmul(%x, %y) : (tensor<2x4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @stack_types(%x: tensor<4x8xf32>, %y: tensor<8x5xf64>) {
  // expected-error@below {{[topi.batch_matmul C4] data of f32 and weight of f64 differ}}
  %r = topi.batch_matmul(%x, %y) : (tensor<4x8xf32>, tensor<8x5xf64>) -> tensor<4x5xf64>
  func.return
}

// -----

func.func @pool_types(%x: tensor<1x8x8x8xf32>) {
  // expected-error@below {{[topi.pool2d C1] result tensor<1x8x7x7xf64> and data tensor<1x8x8x8xf32> differ}}
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x7x7xf64>
  func.return
}

// -----

func.func @pool_kernel(%x: tensor<1x8x8x8xf32>) {
  // expected-error@below {{[topi.pool2d C2] kernel is [2, 2, 2], not two positive numbers}}
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 2, 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x7x7xf32>
  func.return
}

// -----

func.func @pool_kind(%x: tensor<1x8x8x8xf32>) {
  // expected-error@below {{[topi.pool2d C3] kind "min" of f32}}
  %r = topi.pool2d(%x) {kind = "min", kernel = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x7x7xf32>
  func.return
}

// -----

func.func @pool_result(%x: tensor<1x8x8x8xf32>) {
  // expected-error@below {{[topi.pool2d C4]}}
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x5x5xf32>
  func.return
}

// -----

func.func @pool_channels(%x: tensor<1x8x8x8xf32>) {
  // expected-error@below {{[topi.pool2d C4] result [1, 4, 7, 7] changes batch or channels of [1, 8, 8, 8]}}
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x4x7x7xf32>
  func.return
}

// -----

func.func @softmax_types(%x: tensor<4xi32>) {
  // expected-error@below {{[topi.softmax C1]}}
  %r = topi.softmax(%x) {axis = 0 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @softmax_axis(%x: tensor<4xf32>) {
  // expected-error@below {{[topi.softmax C2] axis 1 of a tensor of rank 1}}
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @conv1d_rank(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3xf32>) {
  // expected-error@below {{[topi.conv1d_ncw C1] data has rank 4, not 3}}
  %r = topi.conv1d_ncw(%x, %w) : (tensor<1x8x9x9xf32>, tensor<16x8x3xf32>) -> tensor<1x16x7xf32>
  func.return
}

// -----

func.func @conv1d_strides(%x: tensor<1x8x9xf32>, %w: tensor<16x8x3xf32>) {
  // expected-error@below {{[topi.conv1d_ncw C2] strides is [0], not one positive number}}
  %r = topi.conv1d_ncw(%x, %w) {strides = array<i64: 0>} : (tensor<1x8x9xf32>, tensor<16x8x3xf32>) -> tensor<1x16x7xf32>
  func.return
}

// -----

func.func @pool3d_padding(%x: tensor<1x8x5x5x5xf32>) {
  // expected-error@below {{[topi.pool3d C2] padding is [1, 1], not six numbers of at least 0}}
  %r = topi.pool3d(%x) {kind = "max", kernel = array<i64: 2, 2, 2>, padding = array<i64: 1, 1>}
    : (tensor<1x8x5x5x5xf32>) -> tensor<1x8x4x4x4xf32>
  func.return
}

// -----

func.func @pool3d_result(%x: tensor<1x8x5x5x5xf32>) {
  // expected-error@below {{[topi.pool3d C4]}}
  %r = topi.pool3d(%x) {kind = "max", kernel = array<i64: 2, 2, 2>} : (tensor<1x8x5x5x5xf32>) -> tensor<1x8x5x4x4xf32>
  func.return
}

// -----

func.func @terms_c1(%x: tensor<1x8x9x9xui8>, %w: tensor<2x2x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C1] data has rank 4, not 5}}
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x8x9x9xui8>, tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
  func.return
}

// -----

func.func @terms_c2(%x: tensor<1x1x9x9x8xui8>, %w: tensor<2x2x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C2] strides is [0, 1], not two positive numbers}}
  %r = topi.conv2d_nchwc_terms(%x, %w) {strides = array<i64: 0, 1>} : (tensor<1x1x9x9x8xui8>, tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
  func.return
}

// -----

func.func @terms_c3(%x: tensor<1x2x9x9x8xui8>, %w: tensor<2x2x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C3]}}
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x2x9x9x8xui8>, tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
  func.return
}

// -----

func.func @terms_c4(%x: tensor<1x1x9x9x8xui8>, %w: tensor<2x2x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C4] result has shape [1, 2, 9, 9, 8], not [1, 2, 7, 7, 8]}}
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x1x9x9x8xui8>, tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x9x9x8xi32>
  func.return
}

// -----

func.func @terms_c5(%x: tensor<1x1x9x9x8xi8>, %w: tensor<2x2x3x3x8x4xui8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C5] data of i8 and weight of ui8 differ}}
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x1x9x9x8xi8>, tensor<2x2x3x3x8x4xui8>) -> tensor<1x2x7x7x8xi32>
  func.return
}

// -----

func.func @terms_c6(%x: tensor<1x2x9x9x6xui8>, %w: tensor<2x3x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C6] blocks of 4 do not divide the data's of 6}}
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x2x9x9x6xui8>, tensor<2x3x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
  func.return
}

// -----

func.func @terms_c6_groups(%x: tensor<1x1x9x9x8xui8>, %w: tensor<2x1x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv2d_nchwc_terms C6] blocks of 8 data and 8 result channels do not fit 2 groups of 4 channels and 8 filters}}
  %r = topi.conv2d_nchwc_terms(%x, %w) {groups = 2 : i64} : (tensor<1x1x9x9x8xui8>, tensor<2x1x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
  func.return
}

// -----

func.func @matmul_terms(%x: tensor<5x12xui8>, %w: tensor<2x2x16x4xi8>) {
  // expected-error@below {{[topi.matmul C2] data has rows of 12 elements, weight of 8}}
  %r = topi.matmul(%x, %w) : (tensor<5x12xui8>, tensor<2x2x16x4xi8>) -> tensor<5x32xi32>
  func.return
}

// -----

func.func @sequence(%x: tensor<1x8x9xf32>, %w: tensor<2x1x3x8x8xf32>) {
  // expected-error@below {{[topi.conv1d_ncwc C1] data has rank 3, not 4}}
  %r = topi.conv1d_ncwc(%x, %w) : (tensor<1x8x9xf32>, tensor<2x1x3x8x8xf32>) -> tensor<1x2x7x8xf32>
  func.return
}

// -----

func.func @volume(%x: tensor<1x1x5x5x5x8xf32>, %w: tensor<2x1x3x3x3x8x8xf32>) {
  // expected-error@below {{[topi.conv3d_ncdhwc C4] result has shape [1, 2, 3, 3, 2, 8], not [1, 2, 3, 3, 3, 8]}}
  %r = topi.conv3d_ncdhwc(%x, %w)
    : (tensor<1x1x5x5x5x8xf32>, tensor<2x1x3x3x3x8x8xf32>) -> tensor<1x2x3x3x2x8xf32>
  func.return
}

// -----

func.func @sequence_of_terms(%x: tensor<1x1x9x6xui8>, %w: tensor<2x1x3x8x4xi8>) {
  // expected-error@below {{[topi.conv1d_ncwc_terms C3]}}
  %r = topi.conv1d_ncwc_terms(%x, %w) : (tensor<1x1x9x6xui8>, tensor<2x1x3x8x4xi8>) -> tensor<1x2x7x8xi32>
  func.return
}

// -----

func.func @volume_of_terms(%x: tensor<1x1x5x5x5x8xui8>, %w: tensor<2x2x3x3x3x8x4xi8>) {
  // expected-error@below {{[topi.conv3d_ncdhwc_terms C2] strides is [2, 2], not three positive numbers}}
  %r = topi.conv3d_ncdhwc_terms(%x, %w) {strides = array<i64: 2, 2>}
    : (tensor<1x1x5x5x5x8xui8>, tensor<2x2x3x3x3x8x4xi8>) -> tensor<1x2x3x3x3x8xi32>
  func.return
}
