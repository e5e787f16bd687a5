// RUN: xrelay-opt %s -p relay-simplify-expr | filecheck %s

// CHECK-LABEL: @reshapes(
func.func @reshapes(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
  // CHECK-NEXT: relay.reshape(%x) {newshape = [8, 3]} : (tensor<4x6xf32>) -> tensor<8x3xf32>
  // CHECK-NEXT: func.return
  %a = relay.expand_dims(%x) {axis = 0} : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
  %b = relay.reshape(%a) {newshape = [2, -1]} : (tensor<1x4x6xf32>) -> tensor<2x12xf32>
  %y = relay.reshape(%b) {newshape = [8, 3]} : (tensor<2x12xf32>) -> tensor<8x3xf32>
  func.return %y : tensor<8x3xf32>
}

// CHECK-LABEL: @there_and_back(
func.func @there_and_back(%x: tensor<4x6x5xf32>) -> (tensor<4x6x5xf32>, tensor<4x6x5xf32>, tensor<5x4x6xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = relay.transpose(%x) {axes = [2, 0, 1]}
  // CHECK-NEXT: func.return %x, %x, %[[ONE]]
  %a = relay.reshape(%x) {newshape = [120]} : (tensor<4x6x5xf32>) -> tensor<120xf32>
  %b = relay.reshape(%a) {newshape = [4, 6, 5]} : (tensor<120xf32>) -> tensor<4x6x5xf32>
  %c = relay.transpose(%x) {axes = [1, 2, 0]} : (tensor<4x6x5xf32>) -> tensor<6x5x4xf32>
  %d = relay.transpose(%c) {axes = [2, 0, 1]} : (tensor<6x5x4xf32>) -> tensor<4x6x5xf32>
  %e = relay.transpose(%c) {axes = [1, 2, 0]} : (tensor<6x5x4xf32>) -> tensor<5x4x6xf32>
  func.return %b, %d, %e : tensor<4x6x5xf32>, tensor<4x6x5xf32>, tensor<5x4x6xf32>
}

// CHECK-LABEL: @layouts(
func.func @layouts(%x: tensor<1x32x4x4xf32>) -> (tensor<1x2x4x4x16xf32>, tensor<1x32x4x4xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}
  // CHECK-NEXT: func.return %[[ONE]], %x
  %a = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x32x4x4xf32>) -> tensor<1x4x4x32xf32>
  %b = relay.layout_transform(%a) {src_layout = "NHWC", dst_layout = "NCHW16c"} : (tensor<1x4x4x32xf32>) -> tensor<1x2x4x4x16xf32>
  %c = relay.layout_transform(%a) {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x4x4x32xf32>) -> tensor<1x32x4x4xf32>
  func.return %b, %c : tensor<1x2x4x4x16xf32>, tensor<1x32x4x4xf32>
}

// CHECK-LABEL: @like(
func.func @like(%x: tensor<24xf32>, %z: tensor<4x6xf16>, %n: tensor<f32>) -> (tensor<4x6xf32>, tensor<24xf16>, tensor<4x6xf16>, tensor<24xf32>) {
  // CHECK: relay.reshape(%x) {newshape = [4, 6]} : (tensor<24xf32>)
  // CHECK: relay.cast(%x) {dtype = f16}
  // CHECK: relay.zeros() {shape = [4, 6], dtype = f16}
  // CHECK: relay.full(%n) {shape = [24], dtype = f32}
  // CHECK-NOT: _like
  %a = relay.reshape_like(%x, %z) : (tensor<24xf32>, tensor<4x6xf16>) -> tensor<4x6xf32>
  %b = relay.cast_like(%x, %z) : (tensor<24xf32>, tensor<4x6xf16>) -> tensor<24xf16>
  %c = relay.zeros_like(%z) : (tensor<4x6xf16>) -> tensor<4x6xf16>
  %d = relay.full_like(%x, %n) : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  func.return %a, %b, %c, %d : tensor<4x6xf32>, tensor<24xf16>, tensor<4x6xf16>, tensor<24xf32>
}

// CHECK-LABEL: @sums_like(
func.func @sums_like(%x: tensor<2x4x6xf32>, %z: tensor<4x1xf32>, %v: tensor<6xf32>) -> (tensor<4x1xf32>, tensor<2x4x6xf32>) {
  // CHECK: %[[SUM:.*]] = relay.sum(%x) {axis = [0, 2], keepdims = true}
  // CHECK: relay.reshape(%[[SUM]]) {newshape = [4, 1]}
  // CHECK: relay.broadcast_to(%v) {shape = [2, 4, 6]}
  %a = relay.collapse_sum_like(%x, %z) : (tensor<2x4x6xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %b = relay.broadcast_to_like(%v, %x) : (tensor<6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  func.return %a, %b : tensor<4x1xf32>, tensor<2x4x6xf32>
}

// CHECK-LABEL: @sum_to(
func.func @sum_to(%x: tensor<2x4x6xf32>) -> tensor<4x1xf32> {
  %shape = relay.constant dense<[4, 1]> : tensor<2xi32>
  // CHECK: %[[SUM:.*]] = relay.sum(%x) {axis = [0, 2], keepdims = true}
  // CHECK: relay.reshape(%[[SUM]]) {newshape = [4, 1]}
  %a = relay.collapse_sum_to(%x, %shape) : (tensor<2x4x6xf32>, tensor<2xi32>) -> tensor<4x1xf32>
  func.return %a : tensor<4x1xf32>
}

// CHECK-LABEL: @neutral(
func.func @neutral(%x: tensor<4x6xf32>, %v: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<6xf32>
  %ones = relay.ones() {shape = [4, 6], dtype = f32} : () -> tensor<4x6xf32>
  // Ops that enlarge the result stay.
  // CHECK: %[[LARGE:.*]] = relay.multiply(%v, %{{.*}}) : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: func.return %x, %[[LARGE]]
  %a = relay.add(%x, %zero) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %b = relay.subtract(%a, %zero) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %c = relay.multiply(%one, %b) : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %d = relay.divide(%c, %ones) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = relay.multiply(%v, %ones) : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %d, %e : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @full(
func.func @full(%x: tensor<4x6xf32>, %n: tensor<f32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: relay.subtract(%n, %x) : (tensor<f32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: func.return
  %f = relay.full(%n) {shape = [4, 6]} : (tensor<f32>) -> tensor<4x6xf32>
  %y = relay.subtract(%f, %x) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK-LABEL: @constants(
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[TWELVE:.*]] = relay.constant dense<1.200000e+01> : tensor<f32>
  // CHECK: %[[PRODUCT:.*]] = relay.multiply(%x, %[[TWELVE]])
  // CHECK: %[[SUM:.*]] = relay.constant dense<3.600000e+01> : tensor<f32>
  // CHECK: relay.add(%[[PRODUCT]], %[[SUM]])
  // CHECK-NEXT: func.return
  %three = relay.constant dense<3.0> : tensor<f32>
  %four = relay.constant dense<4.0> : tensor<f32>
  %a = relay.add(%x, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = relay.multiply(%three, %a) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relay.multiply(%b, %four) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: @twice(
func.func @twice(%x: tensor<4xf32>, %c: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[TWO:.*]] = relay.constant dense<2.000000e+00> : tensor<f32>
  // CHECK: relay.multiply(%x, %[[TWO]])
  // CHECK: %[[ROOT:.*]] = relay.rsqrt(%x)
  // CHECK: relay.multiply(%c, %[[ROOT]])
  %a = relay.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.divide(%c, %r) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @casts(
func.func @casts(%x: tensor<4xf16>, %i: tensor<4xi32>, %u: tensor<4xui8>) -> (tensor<4xf16>, tensor<4xi8>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK: %[[FLOATS:.*]] = relay.cast(%i) {dtype = f64}
  // CHECK: %[[BOUNDED:.*]] = relay.cast(%[[FLOATS]]) {dtype = i8}
  // CHECK: %[[CLIPPED:.*]] = relay.clip(%i)
  // CHECK: %[[WIDE:.*]] = relay.cast(%u) {dtype = i32}
  // CHECK-NEXT: func.return %x, %[[BOUNDED]], %[[CLIPPED]], %[[WIDE]]
  %a = relay.cast(%x) {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  %b = relay.cast(%a) {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  %c = relay.cast(%i) {dtype = f64} : (tensor<4xi32>) -> tensor<4xf64>
  %d = relay.cast(%c) {dtype = i8} : (tensor<4xf64>) -> tensor<4xi8>
  %e = relay.clip(%i) {a_min = 0.0, a_max = 255.0} : (tensor<4xi32>) -> tensor<4xi32>
  %f = relay.cast(%e) {dtype = ui8} : (tensor<4xi32>) -> tensor<4xui8>
  %g = relay.cast(%f) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %h = relay.cast(%u) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %j = relay.clip(%h) {a_min = -1.0, a_max = 255.0} : (tensor<4xi32>) -> tensor<4xi32>
  func.return %b, %d, %g, %j : tensor<4xf16>, tensor<4xi8>, tensor<4xi32>, tensor<4xi32>
}

// An f64 represents at most 53 bits of an integer.
// CHECK-LABEL: @integers_that_floats_round(
// CHECK-COUNT-4: relay.cast
func.func @integers_that_floats_round(%x: tensor<4xi64>, %u: tensor<4xui64>) -> (tensor<4xi64>, tensor<4xf32>) {
  %a = relay.cast(%x) {dtype = f64} : (tensor<4xi64>) -> tensor<4xf64>
  %b = relay.cast(%a) {dtype = i64} : (tensor<4xf64>) -> tensor<4xi64>
  %c = relay.cast(%u) {dtype = f64} : (tensor<4xui64>) -> tensor<4xf64>
  %d = relay.cast(%c) {dtype = f32} : (tensor<4xf64>) -> tensor<4xf32>
  func.return %b, %d : tensor<4xi64>, tensor<4xf32>
}

// CHECK-LABEL: @places(
func.func @places(%q: tensor<4x6xi8>, %t: tensor<f32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: relay.argmax(%q) {axis = [1]}
  // CHECK: %[[FLOATS:.*]] = relay.qnn.dequantize(%q, %t, %{{.*}})
  // CHECK: relay.argmin(%[[FLOATS]]) {axis = [1]}
  %a = relay.qnn.dequantize(%q, %s, %z) : (tensor<4x6xi8>, tensor<f32>, tensor<i32>) -> tensor<4x6xf32>
  %b = relay.argmax(%a) {axis = [1]} : (tensor<4x6xf32>) -> tensor<4xi32>
  %c = relay.qnn.dequantize(%q, %t, %z) : (tensor<4x6xi8>, tensor<f32>, tensor<i32>) -> tensor<4x6xf32>
  %d = relay.argmin(%c) {axis = [1]} : (tensor<4x6xf32>) -> tensor<4xi32>
  func.return %b, %d : tensor<4xi32>, tensor<4xi32>
}

// Names of dimensions do not fix a shape, and values with other users stay.
// CHECK-LABEL: @left_alone(
func.func @left_alone(%x: tensor<?x6xf32, #relay.dims<n>>, %z: tensor<4xf32>) -> (tensor<?x6xf32, #relay.dims<n>>, tensor<4xf32>, tensor<4xf32>) {
  %three = relay.constant dense<3.0> : tensor<f32>
  // CHECK: relay.zeros_like
  // CHECK: relay.add
  // CHECK: relay.multiply
  %a = relay.zeros_like(%x) : (tensor<?x6xf32, #relay.dims<n>>) -> tensor<?x6xf32, #relay.dims<n>>
  %b = relay.add(%z, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.multiply(%b, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %a, %b, %c : tensor<?x6xf32, #relay.dims<n>>, tensor<4xf32>, tensor<4xf32>
}
