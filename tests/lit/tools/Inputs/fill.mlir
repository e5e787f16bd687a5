func.func @main(%s: tensor<2xi64>, %x: tensor<f32>) -> (!relay.incomplete {relay.name = "y"}) {
  %y = relay.dyn.full(%x, %s) : (tensor<f32>, tensor<2xi64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
