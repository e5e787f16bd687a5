func.func @main(%s: !relay.sequence<tensor<?xf32>>, %o: !relay.optional<tensor<2xi64>>, %x: tensor<3xf32>)
    -> (!relay.sequence<tensor<?xf32>>, !relay.optional<tensor<2xi64>>, tensor<i64>) {
  %t = relay.sequence_insert(%s, %x) : (!relay.sequence<tensor<?xf32>>, tensor<3xf32>) -> !relay.sequence<tensor<?xf32>>
  %n = relay.sequence_length(%t) : (!relay.sequence<tensor<?xf32>>) -> tensor<i64>
  func.return %t, %o, %n : !relay.sequence<tensor<?xf32>>, !relay.optional<tensor<2xi64>>, tensor<i64>
}
