// RUN: xrelay-opt %s -p qnn-legalize | filecheck %s

// CHECK-LABEL: @signed(
func.func @signed(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: %[[TABLE:.*]] = relay.constant #relay.weight<"qnn.sqrt.table", {{.*}}> : tensor<256xi8>
  // CHECK: %[[BITS:.*]] = relay.reinterpret(%x) {dtype = ui8}
  // CHECK: %[[INDEX:.*]] = relay.cast(%[[BITS]]) {dtype = i32}
  // CHECK: relay.take(%[[TABLE]], %[[INDEX]]) {axis = 0, mode = "fast"}
  // CHECK-NOT: relay.qnn
  %y = relay.qnn.sqrt(%x, %s, %z, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// Unsigned numbers are the indices of the table themselves.
// CHECK-LABEL: @unsigned(
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK-NOT: relay.reinterpret
  // CHECK: relay.take
  %y = relay.qnn.leaky_relu(%x, %s, %z, %s, %z) {alpha = 0.1} : (tensor<4xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// A table of 65536 numbers would not fit into the L1 cache.
// CHECK-LABEL: @sixteen_bits(
func.func @sixteen_bits(%x: tensor<4xi16>) -> tensor<4xi16> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: relay.qnn.exp
  %y = relay.qnn.exp(%x, %s, %z, %s, %z) : (tensor<4xi16>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi16>
  func.return %y : tensor<4xi16>
}

// CHECK-LABEL: @unknown_scale(
func.func @unknown_scale(%x: tensor<4xi8>, %s: tensor<f32>) -> tensor<4xi8> {
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: relay.qnn.exp
  %y = relay.qnn.exp(%x, %s, %z, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// A softmax depends on more than one number.
// CHECK-LABEL: @softmax(
func.func @softmax(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: relay.qnn.softmax
  %y = relay.qnn.softmax(%x, %s, %z, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}
