func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = relay.subtract(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %inf = relay.divide(%x, %zero) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %nan = relay.subtract(%inf, %inf) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %inf, %nan : tensor<3xf32>, tensor<3xf32>
}
