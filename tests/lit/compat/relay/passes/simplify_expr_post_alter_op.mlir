// RUN: xrelay-opt %s -p relay-simplify-expr-post-alter-op | filecheck %s

// CHECK-LABEL: @fires(
// CHECK-NEXT:    %[[R:.*]] = relay.reshape(%x) {newshape = [8, 2]} : (tensor<16xui8>) -> tensor<8x2xui8>
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%[[R]]) {dtype = i64} : (tensor<8x2xui8>) -> tensor<8x2xi64>
// CHECK-NEXT:    func.return %[[C]]
func.func @fires(%x: tensor<16xui8>) -> tensor<8x2xi64> {
  %one = relay.constant dense<1> : tensor<ui8>
  %a = relay.reshape(%x) {newshape = [4, 4]} : (tensor<16xui8>) -> tensor<4x4xui8>
  %b = relay.reshape(%a) {newshape = [8, 2]} : (tensor<4x4xui8>) -> tensor<8x2xui8>
  %c = relay.clip(%b) {a_min = 0.0, a_max = 255.0} : (tensor<8x2xui8>) -> tensor<8x2xui8>
  %d = relay.multiply(%c, %one) : (tensor<8x2xui8>, tensor<ui8>) -> tensor<8x2xui8>
  %e = relay.cast(%d) {dtype = i32} : (tensor<8x2xui8>) -> tensor<8x2xi32>
  %f = relay.cast(%e) {dtype = i64} : (tensor<8x2xi32>) -> tensor<8x2xi64>
  func.return %f : tensor<8x2xi64>
}

// Unchanged: ops that only relay-simplify-expr merges.
// CHECK-LABEL: @leaves_alone(
// CHECK:         relay.add(%x, %{{.*}})
// CHECK:         relay.multiply(
// CHECK:         relay.layout_transform(
// CHECK:         relay.transpose(
// CHECK:         relay.zeros_like(
func.func @leaves_alone(%x: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
  %c = relay.constant dense<3.0> : tensor<f32>
  %a = relay.add(%x, %c) : (tensor<1x2x3x4xf32>, tensor<f32>) -> tensor<1x2x3x4xf32>
  %m = relay.multiply(%a, %c) : (tensor<1x2x3x4xf32>, tensor<f32>) -> tensor<1x2x3x4xf32>
  %l = relay.layout_transform(%m) {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %t = relay.transpose(%l) {axes = [0, 3, 1, 2]} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  %z = relay.zeros_like(%x) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  func.return %t, %z : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
}

// Unchanged: an intermediate cast that loses precision, a result larger than the operand, and unknown types.
// CHECK-LABEL: @refuses(
// CHECK:         relay.cast(%x) {dtype = i8}
// CHECK:         relay.cast(
// CHECK:         relay.add(
// CHECK:         relay.reshape(%y)
// CHECK:         relay.reshape(
func.func @refuses(%x: tensor<4xf32>, %y: !relay.incomplete) -> (tensor<2x4xi32>, !relay.incomplete) {
  %zero = relay.zeros() {shape = [2, 1], dtype = i32} : () -> tensor<2x1xi32>
  %a = relay.cast(%x) {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
  %b = relay.cast(%a) {dtype = i32} : (tensor<4xi8>) -> tensor<4xi32>
  %c = relay.add(%b, %zero) : (tensor<4xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
  %d = relay.reshape(%y) {newshape = [2, 2]} : (!relay.incomplete) -> !relay.incomplete
  %e = relay.reshape(%d) {newshape = [4]} : (!relay.incomplete) -> !relay.incomplete
  func.return %c, %e : tensor<2x4xi32>, !relay.incomplete
}
