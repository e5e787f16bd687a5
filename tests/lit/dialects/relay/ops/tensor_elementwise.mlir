// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @sigmoid(
func.func @sigmoid(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @exp(
func.func @exp(%x: tensor<4x8xf32>) {
  // CHECK: %r = relay.exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @add(
func.func @add(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.add(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.add(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @multiply(
func.func @multiply(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.multiply(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.multiply(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @subtract(
func.func @subtract(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.subtract(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.subtract(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @divide(
func.func @divide(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.divide(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @maximum(
func.func @maximum(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.maximum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.maximum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @minimum(
func.func @minimum(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.minimum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.minimum(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @power(
func.func @power(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.power(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r = relay.power(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @add_scalar(
func.func @add_scalar(%x: tensor<4x8xf32>, %y: tensor<f32>) {
  // CHECK: %r = relay.add(%x, %y) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %r = relay.add(%x, %y) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @add_named(
func.func @add_named(%x: tensor<?x8xf32, #relay.dims<n>>, %y: tensor<1x8xf32>) {
  // CHECK: %r = relay.add(%x, %y) : (tensor<?x8xf32, #relay.dims<n>>, tensor<1x8xf32>) -> tensor<?x8xf32, #relay.dims<n>>
  %r = relay.add(%x, %y) : (tensor<?x8xf32, #relay.dims<n>>, tensor<1x8xf32>) -> tensor<?x8xf32, #relay.dims<n>>
  func.return
}

// CHECK-LABEL: @add_any(
func.func @add_any(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>) {
  // CHECK: %r = relay.add(%x, %y) : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = relay.add(%x, %y) : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @cast(
func.func @cast(%x: tensor<4xf32>) {
  // CHECK: %r = relay.cast(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  %r = relay.cast(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @add_two_names(
func.func @add_two_names(%x: tensor<?x8xf32, #relay.dims<n>>, %y: tensor<?x8xf32, #relay.dims<m>>) {
  // CHECK: %r = relay.add(%x, %y) : (tensor<?x8xf32, #relay.dims<n>>, tensor<?x8xf32, #relay.dims<m>>) -> tensor<?x8xf32, #relay.dims<broadcast(m, n)>>
  %r = relay.add(%x, %y) : (tensor<?x8xf32, #relay.dims<n>>, tensor<?x8xf32, #relay.dims<m>>) -> tensor<?x8xf32, #relay.dims<broadcast(m, n)>>
  func.return
}
