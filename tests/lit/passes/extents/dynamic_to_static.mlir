// RUN: xrelay-opt %s -p relay-infer-type,relay-dynamic-to-static,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p relay-dynamic-to-static,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-dynamic-to-static --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// The shape of a tensor is known without its data.
// CHECK-LABEL: func.func @numbers
// CHECK-NEXT:    %[[Y:.*]] = relay.reshape(%z) {newshape = [2, 6]} : (tensor<12xf32>) -> tensor<2x6xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @numbers(%x: tensor<2x6xf32>, %z: tensor<12xf32>) -> tensor<2x6xf32> {
  %s = relay.shape_of(%x) : (tensor<2x6xf32>) -> tensor<2xi64>
  %y = relay.dyn.reshape(%z, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    relay.reshape(%z) {newshape = [0, 3], allowzero = true}
func.func @nothing(%z: tensor<0x2xf32>) -> !relay.incomplete {
  %s = relay.constant dense<[0, 3]> : tensor<2xi64>
  %y = relay.dyn.reshape(%z, %s) : (tensor<0x2xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// Named extents are copied and merged; the remaining elements are inferred.
// CHECK-LABEL: func.func @names
// CHECK-NEXT:    %[[Y:.*]] = relay.reshape(%x) {newshape = [0, -3]} {{.*}} -> tensor<?x?xf32, #relay.dims<n, 8 * s>>
// CHECK-NEXT:    %[[Z:.*]] = relay.reshape(%[[Y]]) {newshape = [-1, 4]} {{.*}} -> tensor<?x4xf32, #relay.dims<2 * n * s>>
// CHECK-NEXT:    func.return %[[Z]]
func.func @names(%x: tensor<?x?x8xf32, #relay.dims<n, s>>) -> !relay.incomplete {
  %shape = relay.shape_of(%x) : (tensor<?x?x8xf32, #relay.dims<n, s>>) -> tensor<3xi64>
  %first = relay.strided_slice(%shape) {begin = [0], end = [1], strides = [1], axes = [0]} : (tensor<3xi64>) -> tensor<1xi64>
  %rest = relay.strided_slice(%shape) {begin = [1], end = [2], strides = [1], axes = [0]} : (tensor<3xi64>) -> tensor<1xi64>
  %eight = relay.constant dense<8> : tensor<1xi64>
  %m = relay.multiply(%rest, %eight) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = relay.tuple(%first, %m) : (tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<1xi64>, tensor<1xi64>>
  %new = relay.concatenate(%t) : (tuple<tensor<1xi64>, tensor<1xi64>>) -> tensor<2xi64>
  %y = relay.dyn.reshape(%x, %new) {allowzero = true} : (tensor<?x?x8xf32, #relay.dims<n, s>>, tensor<2xi64>) -> !relay.incomplete
  %inferred = relay.constant dense<[-1, 4]> : tensor<2xi64>
  %z = relay.dyn.reshape(%y, %inferred) : (!relay.incomplete, tensor<2xi64>) -> !relay.incomplete
  func.return %z : !relay.incomplete
}

// The static op has the requirements of the dynamic op on names.
// CHECK-LABEL: func.func @demands
// CHECK-NEXT:    relay.reshape(%x) {newshape = [3, 4], relay.requires = {{.*}}6 * n == 12 "C3
func.func @demands(%x: tensor<?x6xf32, #relay.dims<n>>) -> !relay.incomplete {
  %s = relay.constant dense<[3, 4]> : tensor<2xi64>
  %y = relay.dyn.reshape(%x, %s) : (tensor<?x6xf32, #relay.dims<n>>, tensor<2xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// CHECK-LABEL: func.func @broadcast_and_full
// CHECK-NEXT:    %[[F:.*]] = relay.full(%v) {shape = [2, 3]} : (tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[B:.*]] = relay.broadcast_to(%[[F]]) {shape = [4, 2, 3]} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    func.return %[[B]]
func.func @broadcast_and_full(%v: tensor<f32>) -> !relay.incomplete {
  %s = relay.constant dense<[2, 3]> : tensor<2xi64>
  %f = relay.dyn.full(%v, %s) : (tensor<f32>, tensor<2xi64>) -> !relay.incomplete
  %t = relay.constant dense<[4, 1, 3]> : tensor<3xi64>
  %b = relay.dyn.broadcast_to(%f, %t) : (!relay.incomplete, tensor<3xi64>) -> !relay.incomplete
  func.return %b : !relay.incomplete
}

// Data operands become constants.
// CHECK-LABEL: func.func @operands
// CHECK-NEXT:    %[[R:.*]] = relay.constant dense<[0, 1, 2]> : tensor<3xi64>
// CHECK-NEXT:    relay.take(%x, %[[R]])
func.func @operands(%x: tensor<3x2xf32>) -> !relay.incomplete {
  %s = relay.shape_of(%x) : (tensor<3x2xf32>) -> tensor<2xi64>
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %n = relay.take(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = relay.arange(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete
  %y = relay.take(%x, %r) {axis = 0 : i64} : (tensor<3x2xf32>, !relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// REMARK: relay.dyn.reshape: elements of its shape are not known
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    relay.dyn.reshape(%x, %s)
func.func @unknown(%x: tensor<4xf32>, %s: tensor<2xi64>) -> !relay.incomplete {
  %y = relay.dyn.reshape(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// REMARK: relay.dyn.full: no full has the result type tensor<?xf32, #relay.dims<n>>
// CHECK-LABEL: func.func @no_codes
// CHECK:         relay.dyn.full(%v, %
func.func @no_codes(%x: tensor<?xf32, #relay.dims<n>>, %v: tensor<f32>) -> !relay.incomplete {
  %s = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %y = relay.dyn.full(%v, %s) : (tensor<f32>, tensor<1xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// A declared type is checked at run time, so the op stays.
// CHECK-LABEL: func.func @claimed
// CHECK:         relay.dyn.full(%v, %
func.func @claimed(%x: tensor<?xf32, #relay.dims<n>>, %v: tensor<f32>) -> tensor<4xf32> {
  %s = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %y = relay.dyn.full(%v, %s) : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK-NEXT:    %[[S:.*]] = relay.strided_slice(%x) {begin = [-1], end = [0], strides = [-2]} : (tensor<6x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.tile(%[[S]]) {reps = [2, 1, 2]} : (tensor<3x4xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT:    %[[K:.*]] = relay.topk(%[[T]]) {k = 2, axis = 1, ret_type = "values"} : (tensor<2x3x8xf32>) -> tensor<2x2x8xf32>
// CHECK-NEXT:    func.return %[[K]]
func.func @parts(%x: tensor<6x4xf32>) -> !relay.incomplete {
  %begin = relay.constant dense<[-1]> : tensor<1xi64>
  %end = relay.constant dense<[0]> : tensor<1xi64>
  %step = relay.constant dense<[-2]> : tensor<1xi64>
  %s = relay.dyn.strided_slice(%x, %begin, %end, %step) : (tensor<6x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  %reps = relay.constant dense<[2, 1, 2]> : tensor<3xi64>
  %t = relay.dyn.tile(%s, %reps) : (!relay.incomplete, tensor<3xi64>) -> !relay.incomplete
  %k = relay.constant dense<[2]> : tensor<1xi64>
  %y = relay.dyn.topk(%t, %k) {axis = 1 : i64, ret_type = "values"} : (!relay.incomplete, tensor<1xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// A k of 0 keeps nothing, which topk cannot express.
// CHECK-LABEL: func.func @none
// CHECK:         relay.dyn.topk(
func.func @none(%x: tensor<6x4xf32>) -> !relay.incomplete {
  %k = relay.constant dense<0> : tensor<i64>
  %y = relay.dyn.topk(%x, %k) {ret_type = "values"} : (tensor<6x4xf32>, tensor<i64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// The value remains an operand.
// CHECK-LABEL: func.func @pads
// CHECK-NEXT:    relay.nn.pad(%x, %v) {pad_width = [0, 1, 2, 0], pad_mode = "edge", relay.requires = {{.*}}n >= 1 "C4 padded extent">} {{.*}} -> tensor<?x6xf32, #relay.dims<n + 1>>
// CHECK-NEXT:    func.return
func.func @pads(%x: tensor<?x4xf32, #relay.dims<n>>, %v: tensor<f32>) -> !relay.incomplete {
  %w = relay.constant dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>
  %y = relay.dyn.nn.pad(%x, %w, %v) {pad_mode = "edge"} : (tensor<?x4xf32, #relay.dims<n>>, tensor<2x2xi64>, tensor<f32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// REMARK: relay.dyn.nn.pad: no nn.pad has the result type tensor<?xf32, #relay.dims<2 * n>>
// CHECK-LABEL: func.func @named_pads
// CHECK:         relay.dyn.nn.pad(
func.func @named_pads(%x: tensor<?xf32, #relay.dims<n>>, %v: tensor<f32>) -> !relay.incomplete {
  %n = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %zero = relay.constant dense<0> : tensor<1xi64>
  %t = relay.tuple(%zero, %n) : (tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<1xi64>, tensor<1xi64>>
  %list = relay.concatenate(%t) : (tuple<tensor<1xi64>, tensor<1xi64>>) -> tensor<2xi64>
  %w = relay.reshape(%list) {newshape = [1, 2]} : (tensor<2xi64>) -> tensor<1x2xi64>
  %y = relay.dyn.nn.pad(%x, %w, %v) : (tensor<?xf32, #relay.dims<n>>, tensor<1x2xi64>, tensor<f32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// The extent of a slice of a named axis is an expression.
// CHECK-LABEL: func.func @named_slice
// CHECK-NEXT:    relay.strided_slice(%x) {begin = [1], end = [-1], strides = [2]} : {{.*}} -> tensor<?xf32, #relay.dims<(max(0, n - 2) + 1) floordiv 2>>
func.func @named_slice(%x: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %begin = relay.constant dense<1> : tensor<1xi64>
  %end = relay.constant dense<-1> : tensor<1xi64>
  %step = relay.constant dense<2> : tensor<1xi64>
  %y = relay.dyn.strided_slice(%x, %begin, %end, %step) : (tensor<?xf32, #relay.dims<n>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// Types that are less precise than the elements are inferred first.
// CHECK-LABEL: func.func @imprecise
// CHECK-NEXT:    relay.reshape(%z) {newshape = [2, 6]} : (tensor<12xf32>) -> tensor<2x6xf32>
func.func @imprecise(%x: tensor<2x6xf32>, %z: tensor<12xf32>) -> tensor<?x?xf32> {
  %s = relay.shape_of(%x) : (tensor<2x6xf32>) -> tensor<2xi64>
  %y = relay.dyn.reshape(%z, %s) : (tensor<12xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @resize
// CHECK-NEXT:    relay.image.resize2d(%x) {size = [6, 9], layout = "NHWC", method = "cubic"{{.*}} : (tensor<1x4x4x3xf32>) -> tensor<1x6x9x3xf32>
func.func @resize(%x: tensor<1x4x4x3xf32>) -> tensor<1x6x9x3xf32> {
  %size = relay.constant dense<[6, 9]> : tensor<2xi64>
  %scale = relay.constant dense<0.0> : tensor<2xf32>
  %roi = relay.constant dense<0.0> : tensor<4xf32>
  %y = relay.dyn.image.resize(%x, %size, %scale, %roi) {axes = [1, 2], method = "cubic"} : (tensor<1x4x4x3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x6x9x3xf32>
  func.return %y : tensor<1x6x9x3xf32>
}

// Cases that the static op cannot express: a scale, a larger window, separate axes.
// CHECK-LABEL: func.func @resize_otherwise
// CHECK-COUNT-3: relay.dyn.image.resize(
func.func @resize_otherwise(%x: tensor<1x4x4x3xf32>) -> tensor<9x6x4x3xf32> {
  %size = relay.constant dense<[6, 4]> : tensor<2xi64>
  %scale = relay.constant dense<[1.5, 1.0]> : tensor<2xf32>
  %none = relay.constant dense<0.0> : tensor<2xf32>
  %roi = relay.constant dense<0.0> : tensor<4xf32>
  %a = relay.dyn.image.resize(%x, %size, %scale, %roi) {axes = [1, 2]} : (tensor<1x4x4x3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x6x4x3xf32>
  %b = relay.dyn.image.resize(%a, %size, %none, %roi) {axes = [1, 2], antialias = true} : (tensor<1x6x4x3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x6x4x3xf32>
  %first = relay.constant dense<[9, 6]> : tensor<2xi64>
  %c = relay.dyn.image.resize(%b, %first, %none, %roi) {axes = [0, 1]} : (tensor<1x6x4x3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<9x6x4x3xf32>
  func.return %c : tensor<9x6x4x3xf32>
}

// CHECK-LABEL: func.func @sparse_to_dense
// CHECK-NEXT:    %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [2, 6]} : (tensor<3x2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<2x6xf32>
func.func @sparse_to_dense(%x: tensor<2x6xf32>, %i: tensor<3x2xi64>, %v: tensor<3xf32>, %d: tensor<f32>) -> !relay.incomplete {
  %s = relay.shape_of(%x) : (tensor<2x6xf32>) -> tensor<2xi64>
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<3x2xi64>, tensor<2xi64>, tensor<3xf32>, tensor<f32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// A constant shape in floats, cast to integers, is known.
// CHECK-LABEL: func.func @shape_in_floats
// CHECK:         relay.image.resize2d(%x) {size = [8, 8]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
func.func @shape_in_floats(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x?x?xf32> {
  %f = relay.constant dense<8.0> : tensor<2xf32>
  %s = relay.cast(%f) {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  %scale = relay.constant dense<0.0> : tensor<2xf32>
  %roi = relay.constant dense<0.0> : tensor<4xf32>
  %y = relay.dyn.image.resize(%x, %s, %scale, %roi) {axes = [2, 3]} : (tensor<1x3x4x4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x3x?x?xf32>
  func.return %y : tensor<1x3x?x?xf32>
}

// A fraction is cast at run time.
// CHECK-LABEL: func.func @no_shape
// CHECK:         relay.cast
// CHECK:         relay.dyn.image.resize
func.func @no_shape(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x?x?xf32> {
  %f = relay.constant dense<8.5> : tensor<2xf32>
  %s = relay.cast(%f) {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  %scale = relay.constant dense<0.0> : tensor<2xf32>
  %roi = relay.constant dense<0.0> : tensor<4xf32>
  %y = relay.dyn.image.resize(%x, %s, %scale, %roi) {axes = [2, 3]} : (tensor<1x3x4x4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x3x?x?xf32>
  func.return %y : tensor<1x3x?x?xf32>
}
