// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @reshape_copy_and_infer(
func.func @reshape_copy_and_infer(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [0, -1]} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %r = relay.reshape(%x) {newshape = [0, -1]} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  func.return
}

// CHECK-LABEL: @reshape_rest(
func.func @reshape_rest(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [2, -2]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %r = relay.reshape(%x) {newshape = [2, -2]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// CHECK-LABEL: @reshape_merge(
func.func @reshape_merge(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [-3, 0]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %r = relay.reshape(%x) {newshape = [-3, 0]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  func.return
}

// CHECK-LABEL: @reverse_reshape(
func.func @reverse_reshape(%x: tensor<10x5x4xf32>) {
  // CHECK: %a = relay.contrib_reverse_reshape(%x) {newshape = [-1, 0]} : (tensor<10x5x4xf32>) -> tensor<50x4xf32>
  %a = relay.contrib_reverse_reshape(%x) {newshape = [-1, 0]} : (tensor<10x5x4xf32>) -> tensor<50x4xf32>
  // CHECK: %b = relay.contrib_reverse_reshape(%x) {newshape = [0, -3]} : (tensor<10x5x4xf32>) -> tensor<10x20xf32>
  %b = relay.contrib_reverse_reshape(%x) {newshape = [0, -3]} : (tensor<10x5x4xf32>) -> tensor<10x20xf32>
  // CHECK: {newshape = [0, 0, 2, -1, -4]} : (tensor<10x5x4xf32>) -> tensor<10x5x2x2xf32>
  %c = relay.contrib_reverse_reshape(%x) {newshape = [0, 0, 2, -1, -4]} : (tensor<10x5x4xf32>) -> tensor<10x5x2x2xf32>
  func.return
}

// CHECK-LABEL: @reshape_split(
func.func @reshape_split(%x: tensor<12x4xf32>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [-4, 3, -1, 0]} : (tensor<12x4xf32>) -> tensor<3x4x4xf32>
  %r = relay.reshape(%x) {newshape = [-4, 3, -1, 0]} : (tensor<12x4xf32>) -> tensor<3x4x4xf32>
  func.return
}

// CHECK-LABEL: @reshape_named(
func.func @reshape_named(%x: tensor<?x3x4xf32, #relay.dims<n>>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [0, -1]} : (tensor<?x3x4xf32, #relay.dims<n>>) -> tensor<?x12xf32, #relay.dims<n>>
  %r = relay.reshape(%x) {newshape = [0, -1]} : (tensor<?x3x4xf32, #relay.dims<n>>) -> tensor<?x12xf32, #relay.dims<n>>
  func.return
}

// CHECK-LABEL: @reshape_named_all(
func.func @reshape_named_all(%x: tensor<?x6xf32, #relay.dims<n>>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [-1, 2]} : (tensor<?x6xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<3 * n>>
  %r = relay.reshape(%x) {newshape = [-1, 2]} : (tensor<?x6xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<3 * n>>
  func.return
}

// CHECK-LABEL: @reshape_zero(
func.func @reshape_zero(%x: tensor<0x4xf32>) {
  // CHECK: %r = relay.reshape(%x) {newshape = [0, 2], allowzero = true} : (tensor<0x4xf32>) -> tensor<0x2xf32>
  %r = relay.reshape(%x) {newshape = [0, 2], allowzero = true} : (tensor<0x4xf32>) -> tensor<0x2xf32>
  func.return
}

// CHECK-LABEL: @batch_flatten(
func.func @batch_flatten(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.nn.batch_flatten(%x) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %r = relay.nn.batch_flatten(%x) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  func.return
}

// CHECK-LABEL: @squeeze(
func.func @squeeze(%x: tensor<1x8x1x2xf32>) {
  // CHECK: %r = relay.squeeze(%x) : (tensor<1x8x1x2xf32>) -> tensor<8x2xf32>
  %r = relay.squeeze(%x) : (tensor<1x8x1x2xf32>) -> tensor<8x2xf32>
  func.return
}

// CHECK-LABEL: @squeeze_axis(
func.func @squeeze_axis(%x: tensor<1x8x1x2xf32>) {
  // CHECK: %r = relay.squeeze(%x) {axis = [-2]} : (tensor<1x8x1x2xf32>) -> tensor<1x8x2xf32>
  %r = relay.squeeze(%x) {axis = [-2]} : (tensor<1x8x1x2xf32>) -> tensor<1x8x2xf32>
  func.return
}

// CHECK-LABEL: @expand_dims(
func.func @expand_dims(%x: tensor<8xf32>) {
  // CHECK: %r = relay.expand_dims(%x) {axis = -1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
  %r = relay.expand_dims(%x) {axis = -1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
  func.return
}
