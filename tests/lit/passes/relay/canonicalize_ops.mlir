// RUN: xrelay-opt %s -p relay-canonicalize-ops | filecheck %s

// CHECK-LABEL: func.func @channels
// CHECK-NEXT:    %[[E:.*]] = relay.expand_dims(%b) {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.add(%x, %[[E]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @channels(%x: tensor<1x8x4x4xf32>, %b: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  %y = relay.nn.bias_add(%x, %b) : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  func.return %y : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: func.func @last_axis
// CHECK-NEXT:    relay.add(%x, %b)
func.func @last_axis(%x: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %y = relay.nn.bias_add(%x, %b) {axis = -1} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @not_typed_yet
// CHECK-NEXT:    relay.nn.bias_add
func.func @not_typed_yet(%x: !relay.incomplete, %b: tensor<8xf32>) -> !relay.incomplete {
  %y = relay.nn.bias_add(%x, %b) : (!relay.incomplete, tensor<8xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
