// RUN: xrelay-opt %s -p cse,dce,canonicalize | filecheck %s

// CHECK-LABEL: @cse
func.func @cse(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %a = relay.exp(%x)
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: relay.add(%a, %a)
  %c = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// CHECK-LABEL: @dce
func.func @dce(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %c: tensor<i1>) -> tensor<1x3x8x8xf32> {
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.tuple(%0, %0) : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
    -> tuple<tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>>
  %2 = relay.fused @g(%p = %x : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
    relay.yield %p : tensor<1x3x8x8xf32>
  }
  %3 = relay.if %c : tensor<i1> -> tensor<1x3x8x8xf32> {
    relay.yield %x : tensor<1x3x8x8xf32>
  } else {
    %4 = relay.exp(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    relay.yield %4 : tensor<1x3x8x8xf32>
  }
  // CHECK-NEXT: func.return %x
  func.return %x : tensor<1x3x8x8xf32>
}

// Other ops may need the extents that an op defines: ops that name extents stay, and are not merged.
// CHECK-LABEL: @names
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>}
  // CHECK-NEXT: relay.argwhere(%x) {relay.binds = #relay.bounds<j <= 4>}
  %a = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>} : (tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<k>>
  %b = relay.argwhere(%x) {relay.binds = #relay.bounds<j <= 4>} : (tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<j>>
  // CHECK-NEXT: func.return %x
  func.return %x : tensor<4xf32>
}
