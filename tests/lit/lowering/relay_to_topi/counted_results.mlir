// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// A result of data-dependent length is a buffer of the maximum size, and a count.
// CHECK-LABEL: func.func private @fused_argwhere
// CHECK-SAME:    -> (tensor<20x2xi32>, tensor<i64>)
// CHECK:         %[[AT:.*]], %[[N:.*]] = topi.positions(%{{.*}}) : (tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>)
// CHECK:         func.return %{{.*}}, %[[N]] : tensor<20x2xi32>, tensor<i64>
func.func private @fused_argwhere(%x: tensor<4x5xf32>) -> tensor<?x2xi32, #relay.dims<k>> attributes {relay.primitive} {
  %w = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 20>} : (tensor<4x5xf32>) -> tensor<?x2xi32, #relay.dims<k>>
  func.return %w : tensor<?x2xi32, #relay.dims<k>>
}

// Its reader is a kernel with named extents.
// CHECK-LABEL: func.func private @fused_transpose(%{{.*}}: tensor<?x2xi32, #relay.dims<k>>) -> tensor<2x?xi32, #relay.dims<k>>
func.func private @fused_transpose(%x: tensor<?x2xi32, #relay.dims<k>>) -> tensor<2x?xi32, #relay.dims<k>> attributes {relay.primitive} {
  %t = relay.transpose(%x) {axes = [1, 0]} : (tensor<?x2xi32, #relay.dims<k>>) -> tensor<2x?xi32, #relay.dims<k>>
  func.return %t : tensor<2x?xi32, #relay.dims<k>>
}

// The buffer is sliced after the call.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %w, %[[N:.*]] = func.call @fused_argwhere(%x) : (tensor<4x5xf32>) -> (tensor<20x2xi32>, tensor<i64>)
// CHECK-NEXT: %[[W:.*]] = relay.cut(%w, %[[N]]) {relay.binds = #relay.bounds<k <= 20>} : (tensor<20x2xi32>, tensor<i64>) -> tensor<?x2xi32, #relay.dims<k>>
// CHECK-NEXT: %t = func.call @fused_transpose(%[[W]])
// CHECK-NEXT: func.return %t
func.func @main(%x: tensor<4x5xf32>) -> tensor<2x?xi32, #relay.dims<k>> {
  %w = func.call @fused_argwhere(%x) : (tensor<4x5xf32>) -> tensor<?x2xi32, #relay.dims<k>>
  %t = func.call @fused_transpose(%w) : (tensor<?x2xi32, #relay.dims<k>>) -> tensor<2x?xi32, #relay.dims<k>>
  func.return %t : tensor<2x?xi32, #relay.dims<k>>
}

// The same in a branch.
// CHECK-LABEL: func.func @branch(
// CHECK: relay.if
// CHECK-NEXT: %w, %[[M:.*]] = func.call @fused_argwhere
// CHECK-NEXT: %[[V:.*]] = relay.cut(%w, %[[M]])
// CHECK-NEXT: relay.yield %[[V]]
func.func @branch(%c: tensor<i1>, %x: tensor<4x5xf32>, %y: tensor<1x2xi32>) -> tensor<?x2xi32, #relay.dims<d>> {
  %r = relay.if %c : tensor<i1> -> tensor<?x2xi32, #relay.dims<d>> attributes {relay.binds = #relay.bounds<d>} {
    %w = func.call @fused_argwhere(%x) : (tensor<4x5xf32>) -> tensor<?x2xi32, #relay.dims<k>>
    relay.yield %w : tensor<?x2xi32, #relay.dims<k>>
  } else {
    relay.yield %y : tensor<1x2xi32>
  }
  func.return %r : tensor<?x2xi32, #relay.dims<d>>
}
