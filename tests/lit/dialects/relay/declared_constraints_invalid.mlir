// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// One violation of each kind of declared constraint, and its message.

func.func @size(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.nn.lrn C2] size is 0, it must be at least 1}}
  %r = relay.nn.lrn(%x) {size = 0} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @sort_axis(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.sort C1] axis 2 is out of range for rank 2}}
  %r = relay.sort(%x) {axis = 2} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @condition(%c: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.where C1] the element type must be i1, found f32}}
  %r = relay.where(%c, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @equal_shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{[relay.equal C2] shapes (4) and (3) do not broadcast}}
  %r = relay.equal(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @add_named(%x: tensor<?xf32, #relay.dims<n + 2>>, %y: tensor<?xf32, #relay.dims<n + 3>>) {
  // expected-error@below {{[relay.add C2] shapes (n + 2) and (n + 3) do not broadcast}}
  %r = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n + 2>>, tensor<?xf32, #relay.dims<n + 3>>) -> !relay.incomplete
  func.return
}

// -----

func.func @softmax_elements(%x: tensor<2x8xi32>) {
  // expected-error@below {{[relay.nn.softmax C2] the element type must be a float, found i32}}
  %r = relay.nn.softmax(%x) : (tensor<2x8xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @topk_ret_type(%x: tensor<1x8xf32>) {
  // expected-error@below {{[relay.topk C3] ret_type must be one of both, values, indices, found 'all'}}
  %r = relay.topk(%x) {ret_type = "all"} : (tensor<1x8xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @unique_rank(%x: tensor<2x4xf32>) {
  // expected-error@below {{[relay.unique C1] operand #0 has rank 2, it must have rank 1}}
  %u = relay.unique(%x) : (tensor<2x4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @matmul_elements(%x: tensor<2x5xf32>, %y: tensor<5x4xf64>) {
  // expected-error@below {{[relay.nn.matmul C1] element types f32 != f64; help: cast one operand}}
  %r = relay.nn.matmul(%x, %y) : (tensor<2x5xf32>, tensor<5x4xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @vectors(%x: tensor<2x9x4xf32>, %g: tensor<9xf32>, %b: tensor<4xf32>) {
  // expected-error@below {{[relay.nn.layer_norm C4] extents of operand #1 and of the axis: 9 != 4}}
  %r = relay.nn.layer_norm(%x, %g, %b) : (tensor<2x9x4xf32>, tensor<9xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @integers(%x: tensor<4xi1>) {
  // expected-error@below {{[relay.bitwise_not C1] the element type must be an integer, found i1}}
  %r = relay.bitwise_not(%x) : (tensor<4xi1>) -> !relay.incomplete
  func.return
}

// -----

func.func @sections(%x: tensor<6xf32>) {
  // expected-error@below {{[relay.split C2] extent 6 modulo indices_or_sections 4: 2 != 0}}
  %r = relay.split(%x) {indices_or_sections = 4} : (tensor<6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_sections(%x: tensor<6xf32>) {
  // expected-error@below {{[relay.split C2] indices_or_sections must be positive, found 0}}
  %r = relay.split(%x) {indices_or_sections = 0} : (tensor<6xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch(%x: tensor<4x8xf32>, %i: tensor<3xi64>) {
  // expected-error@below {{[relay.take C4]}}
  %y = relay.take(%x, %i) {axis = 0, batch_dims = 1} : (tensor<4x8xf32>, tensor<3xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch_without_axis(%x: tensor<4x8xf32>, %i: tensor<3xi64>) {
  // expected-error@below {{[relay.take C4]}}
  %y = relay.take(%x, %i) {batch_dims = 1} : (tensor<4x8xf32>, tensor<3xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @batch_extents(%x: tensor<4x8xf32>, %i: tensor<1x5xi64>) {
  // expected-error@below {{[relay.gather_nd C4] batch axes: extents of axis 0 4 != 5}}
  %y = relay.gather_nd(%x, %i) {batch_dims = 1} : (tensor<4x8xf32>, tensor<1x5xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @out_dtype(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C11] the dtype must be an element type, found "float32"}}
  %r = relay.nn.conv2d(%x, %w) {out_dtype = "float32"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @products(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>) {
  // expected-error@below {{[relay.nn.conv2d C11] out_dtype f32 cannot hold sums of products of i8; help: cast the operands before, or the result after}}
  %r = relay.nn.conv2d(%x, %w) {out_dtype = f32} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>) -> !relay.incomplete
  func.return
}

// -----

func.func @products_of_another_sign(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>) {
  // expected-error@below {{[relay.nn.conv2d C11] out_dtype ui8 cannot hold sums of products of i8}}
  %r = relay.nn.conv2d(%x, %w) {out_dtype = ui8} : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>) -> !relay.incomplete
  func.return
}

// -----

func.func @products_of_doubles(%x: tensor<1x3x8x8xf64>, %w: tensor<4x3x3x3xf64>) {
  // expected-error@below {{[relay.nn.conv2d C11] out_dtype f16 cannot hold sums of products of f64}}
  %r = relay.nn.conv2d(%x, %w) {out_dtype = f16} : (tensor<1x3x8x8xf64>, tensor<4x3x3x3xf64>) -> !relay.incomplete
  func.return
}

// -----

func.func @rank(%x: tensor<3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C2] layout NCHW has 4 axes, the shape (3, 8, 8) 3}}
  %r = relay.nn.conv2d(%x, %w) : (tensor<3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @layouts(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C1] layout 'NCHH' has the axis H twice}}
  %r = relay.nn.conv2d(%x, %w) {data_layout = "NCHH"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @strides(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@below {{[relay.nn.conv2d C7] strides must be one or two positive numbers, found [0, 1]}}
  %r = relay.nn.conv2d(%x, %w) {strides = [0, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @finite(%x: tensor<1x3x8x8xf32>) {
  // expected-error@below {{[relay.image.resize2d C12] cubic_alpha is inf, it must be finite}}
  %r = relay.image.resize2d(%x) {size = [4, 4], cubic_alpha = 0x7FF0000000000000 : f64} : (tensor<1x3x8x8xf32>) -> !relay.incomplete
  func.return
}
