// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @relu(
func.func @relu(%x: tensor<1x8x4x4xf32>) {
  // CHECK: %r = relay.nn.relu(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.relu(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// CHECK-LABEL: @softmax(
func.func @softmax(%x: tensor<2x8xf32>) {
  // CHECK: %r = relay.nn.softmax(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = relay.nn.softmax(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return
}

// CHECK-LABEL: @softmax_axis(
func.func @softmax_axis(%x: tensor<2x8xf32>) {
  // CHECK: %r = relay.nn.softmax(%x) {axis = 0} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = relay.nn.softmax(%x) {axis = 0} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return
}

// CHECK-LABEL: @dropout(
func.func @dropout(%x: tensor<2x8xf32>) {
  // CHECK: %r = relay.nn.dropout(%x) : (tensor<2x8xf32>) -> tuple<tensor<2x8xf32>, tensor<2x8xf32>>
  %r = relay.nn.dropout(%x) : (tensor<2x8xf32>) -> tuple<tensor<2x8xf32>, tensor<2x8xf32>>
  func.return
}

// CHECK-LABEL: @dropout_rate(
func.func @dropout_rate(%x: tensor<2x8xf32>) {
  // CHECK: %r = relay.nn.dropout(%x) {rate = 0.2} : (tensor<2x8xf32>) -> tuple<tensor<2x8xf32>, tensor<2x8xf32>>
  %r = relay.nn.dropout(%x) {rate = 0.2} : (tensor<2x8xf32>) -> tuple<tensor<2x8xf32>, tensor<2x8xf32>>
  func.return
}
