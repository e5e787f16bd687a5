// RUN: xrelay-opt %s -p relay-canonicalize-cast | filecheck %s

// CHECK-LABEL: @two_readers(
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%x)
// CHECK-NEXT:    relay.exp(%[[C]])
// CHECK-NEXT:    %[[D:.*]] = relay.cast(%x) {dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
// CHECK-NEXT:    relay.add(%[[D]], %[[D]])
func.func @two_readers(%x: tensor<8xi8>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = relay.cast(%x) {dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
  %a = relay.exp(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.add(%c, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// The return and the sum use the existing cast.
// CHECK-LABEL: @other_readers(
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%x)
// CHECK-NEXT:    relay.exp(%[[C]])
// CHECK-NEXT:    relay.sum(%[[C]])
// CHECK-NEXT:    func.return %{{.*}}, %{{.*}}, %[[C]]
func.func @other_readers(%x: tensor<8xi8>) -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
  %c = relay.cast(%x) {dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
  %a = relay.exp(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.sum(%c) : (tensor<8xf32>) -> tensor<f32>
  func.return %a, %b, %c : tensor<8xf32>, tensor<f32>, tensor<8xf32>
}

// CHECK-LABEL: @not_wider(
// CHECK:         relay.cast(%x)
// CHECK-NOT:     relay.cast
func.func @not_wider(%x: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = relay.cast(%x) {dtype = f32} : (tensor<8xi32>) -> tensor<8xf32>
  %a = relay.exp(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.sqrt(%c) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %a, %b : tensor<8xf32>, tensor<8xf32>
}
