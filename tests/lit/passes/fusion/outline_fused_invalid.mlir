// RUN: not xrelay-opt %s -p relay-outline-fused 2>&1 | filecheck %s

// CHECK: outline_fused_invalid.mlir:5:{{[0-9]+}}: error: relay-outline-fused: relay.if has no native form; help:
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
