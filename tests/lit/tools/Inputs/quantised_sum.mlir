func.func @main(%x: tensor<2x4xi8>, %y: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %s = relay.constant dense<0.3> : tensor<f32>
  %t = relay.constant dense<0.7> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %b = relay.qnn.dequantize(%y, %t, %z) : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %c = relay.add(%a, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %q = relay.qnn.quantize(%c, %s, %z) : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
  func.return %q : tensor<2x4xi8>
}
