func.func @main(%a: tensor<?x?x16xf32, #relay.dims<b, s>>, %c: tensor<?x?x16xf32, #relay.dims<b, m>>) -> !relay.incomplete {
  %m = relay.nn.batch_matmul(%a, %c)
    : (tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x?x16xf32, #relay.dims<b, m>>) -> !relay.incomplete
  func.return %m : !relay.incomplete
}
