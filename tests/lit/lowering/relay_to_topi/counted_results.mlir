// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// A list whose length the data decides is a buffer with room for all, and a count.
// CHECK-LABEL: func.func private @fused_argwhere
// CHECK-SAME:    -> (tensor<20x2xi32> {xrelay.counted = array<i64: 0, 1>}, tensor<i64>)
// CHECK:         %[[AT:.*]], %[[N:.*]] = topi.positions(%{{.*}}) : (tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>)
// CHECK:         func.return %{{.*}}, %[[N]] : tensor<20x2xi32>, tensor<i64>
func.func private @fused_argwhere(%x: tensor<4x5xf32>) -> tensor<?x2xi32> attributes {relay.primitive} {
  %w = relay.argwhere(%x) : (tensor<4x5xf32>) -> tensor<?x2xi32>
  func.return %w : tensor<?x2xi32>
}

// What reads it place by place has a copy for the buffer, and the same count.
// CHECK-LABEL: func.func private @fused_transpose_bounded(%{{.*}}: tensor<20x2xi32>) -> tensor<2x20xi32>
func.func private @fused_transpose(%x: tensor<?x2xi32>) -> tensor<2x?xi32> attributes {relay.primitive} {
  %t = relay.transpose(%x) {axes = [1, 0]} : (tensor<?x2xi32>) -> tensor<2x?xi32>
  func.return %t : tensor<2x?xi32>
}

// CHECK-LABEL: func.func @main(%x: tensor<4x5xf32>) -> (tensor<2x20xi32> {relay.name = "at", xrelay.counted = array<i64: 1, 1>}, tensor<i64> {relay.name = "at_count"}, tensor<4x5xf32> {relay.name = "output1"})
// CHECK-NEXT: %w, %[[N:.*]] = func.call @fused_argwhere(%x) : (tensor<4x5xf32>) -> (tensor<20x2xi32>, tensor<i64>)
// CHECK-NEXT: %t = func.call @fused_transpose_bounded(%w) : (tensor<20x2xi32>) -> tensor<2x20xi32>
// CHECK-NEXT: func.return %t, %[[N]], %x : tensor<2x20xi32>, tensor<i64>, tensor<4x5xf32>
func.func @main(%x: tensor<4x5xf32>) -> (tensor<2x?xi32> {relay.name = "at"}, tensor<4x5xf32>) {
  %w = func.call @fused_argwhere(%x) : (tensor<4x5xf32>) -> tensor<?x2xi32>
  %t = func.call @fused_transpose(%w) : (tensor<?x2xi32>) -> tensor<2x?xi32>
  func.return %t, %x : tensor<2x?xi32>, tensor<4x5xf32>
}
