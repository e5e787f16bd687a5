// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-outline-fused

// The number of fields of an untyped tuple is unknown.
func.func @main(%x: tensor<3xf32>) -> tensor<6xf32> {
  // expected-error@below {{relay-outline-fused: type !relay.incomplete does not specify the 2 fields of a value; help: run relay-infer-type first}}
  %t = relay.tuple(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> !relay.incomplete
  %y = relay.concatenate(%t) : (!relay.incomplete) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}
