func.func @main(%x: tensor<2x4xi8>, %w: tensor<3x4xi8>) -> tensor<2x3xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %b = relay.qnn.dequantize(%w, %s, %z) : (tensor<3x4xi8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %c = relay.nn.dense(%a, %b) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %y = relay.qnn.quantize(%c, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
  func.return %y : tensor<2x3xi8>
}
