func.func @main(%x: tensor<2x3x4x8xf32>) -> !relay.incomplete {
  %a = relay.nn.softmax(%x) : (tensor<2x3x4x8xf32>) -> !relay.incomplete
  %b = relay.cumsum(%x) {axis = 1} : (tensor<2x3x4x8xf32>) -> !relay.incomplete
  %t = relay.tuple(%a, %b) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %c = relay.concatenate(%t) {axis = 1} : (!relay.incomplete) -> !relay.incomplete
  %d = relay.nn.avg_pool2d(%c) {pool_size = array<i64: 2, 2>} : (!relay.incomplete) -> !relay.incomplete
  func.return %d : !relay.incomplete
}
