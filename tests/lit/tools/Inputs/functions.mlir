func.func @main(%x: tensor<3xf32>) -> ((tensor<3xf32>) -> tensor<3xf32>, tensor<3xf32>) {
  %e = relay.exp(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %f = relay.fn(%y : tensor<3xf32>) -> tensor<3xf32> {
    %s = relay.add(%y, %e) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    relay.yield %s : tensor<3xf32>
  }
  func.return %f, %e : (tensor<3xf32>) -> tensor<3xf32>, tensor<3xf32>
}
