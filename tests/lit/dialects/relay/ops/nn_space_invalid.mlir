// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_image(%x: tensor<8x2x3xf32>) {
  // expected-error@below {{[relay.nn.depth_to_space C3] an image has four axes, found 3}}
  %r = relay.nn.depth_to_space(%x) {block_size = 2} : (tensor<8x2x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @channels(%x: tensor<1x6x2x3xf32>) {
  // expected-error@below {{[relay.nn.depth_to_space C5] channels 6 modulo pixels of a block 4: 2 != 0}}
  %r = relay.nn.depth_to_space(%x) {block_size = 2} : (tensor<1x6x2x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @three_axes(%x: tensor<2x4x6xf32>) {
  // expected-error@below {{[relay.nn.space_to_depth C3] an image has four axes, found 3}}
  %r = relay.nn.space_to_depth(%x) {block_size = 2} : (tensor<2x4x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @rows(%x: tensor<1x2x5x6xf32>) {
  // expected-error@below {{[relay.nn.space_to_depth C4] rows 5 modulo block size 2: 1 != 0}}
  %r = relay.nn.space_to_depth(%x) {block_size = 2} : (tensor<1x2x5x6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @too_few_axes(%x: tensor<4x2xf32>) {
  // expected-error@below {{[relay.nn.batch_to_space_nd C2]}}
  %r = relay.nn.batch_to_space_nd(%x) {block_shape = [2, 2], crops = [0, 0, 0, 0]} : (tensor<4x2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @crops(%x: tensor<4x2x3xf32>) {
  // expected-error@below {{[relay.nn.batch_to_space_nd C3]}}
  %r = relay.nn.batch_to_space_nd(%x) {block_shape = [2, 2], crops = [0, -1, 0, 0]} : (tensor<4x2x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @batches(%x: tensor<6x2x3xf32>) {
  // expected-error@below {{[relay.nn.batch_to_space_nd C4] batches 6 modulo places of a block 4: 2 != 0}}
  %r = relay.nn.batch_to_space_nd(%x) {block_shape = [2, 2], crops = [0, 0, 0, 0]} : (tensor<6x2x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @cut_off(%x: tensor<4x1x3xf32>) {
  // expected-error@below {{[relay.nn.batch_to_space_nd C5]}}
  %r = relay.nn.batch_to_space_nd(%x) {block_shape = [2, 2], crops = [1, 2, 0, 0]} : (tensor<4x1x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_axes(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.nn.space_to_batch_nd C2]}}
  %r = relay.nn.space_to_batch_nd(%x) {block_shape = [2], paddings = [0, 0]} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @paddings(%x: tensor<4x2xf32>) {
  // expected-error@below {{[relay.nn.space_to_batch_nd C3]}}
  %r = relay.nn.space_to_batch_nd(%x) {block_shape = [2], paddings = [1]} : (tensor<4x2xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @places(%x: tensor<4x3xf32>) {
  // expected-error@below {{[relay.nn.space_to_batch_nd C4] places 3 modulo those of a block 2: 1 != 0}}
  %r = relay.nn.space_to_batch_nd(%x) {block_shape = [2], paddings = [0, 0]} : (tensor<4x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @strides(%x: tensor<4x3xf32>) {
  // expected-error@below {{[relay.nn.dilate C2] 1 strides for 2 axes}}
  %r = relay.nn.dilate(%x) {strides = [2]} : (tensor<4x3xf32>) -> !relay.incomplete
  func.return
}
