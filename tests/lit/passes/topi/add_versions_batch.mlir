// RUN: xrelay-opt %s -p topi-add-versions | filecheck %s
// RUN: xrelay-opt %s -p topi-add-versions | grep -c loop.version | filecheck %s --check-prefix=COUNT

// The number of rows has two names without a size hint. An inner batch has a version for 1, with rows along the other
// extent. An outer batch has no version.
// COUNT: 1
// CHECK: func.func private @scan_b1(%x: tensor<?x1x4xf32, #relay.dims<t>>, %w: tensor<4x8xf32>) -> tensor<?x1x8xf32, #relay.dims<t>>
// CHECK-SAME: loop.version = {of = @scan, sizes = {b = 1 : i64}, reason = "a batch is often 1, and the rows of a tile then run along another extent: a product of t rows"}
func.func private @scan(%x: tensor<?x?x4xf32, #relay.dims<t, b>>, %w: tensor<4x8xf32>) -> tensor<?x?x8xf32, #relay.dims<t, b>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : t, %h : b, %j : 8] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<?x?x8xf32, #relay.dims<t, b>> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %h, %k] : tensor<?x?x4xf32, #relay.dims<t, b>>
    %1 = topi.read %w[%k, %j] : tensor<4x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x?x8xf32, #relay.dims<t, b>>
}
func.func private @sequence(%x: tensor<?x?x4xf32, #relay.dims<b, t>>, %w: tensor<4x8xf32>) -> tensor<?x?x8xf32, #relay.dims<b, t>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : b, %h : t, %j : 8] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<?x?x8xf32, #relay.dims<b, t>> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %h, %k] : tensor<?x?x4xf32, #relay.dims<b, t>>
    %1 = topi.read %w[%k, %j] : tensor<4x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x?x8xf32, #relay.dims<b, t>>
}
func.func private @turn(%x: tensor<?x?x4xf32, #relay.dims<b, t>>) -> tensor<?x?x4xf32, #relay.dims<t, b>> attributes {relay.primitive} {
  %r = topi.compute "turn" [%i : t, %h : b, %j : 4] : tensor<?x?x4xf32, #relay.dims<t, b>> {
    %0 = topi.read %x[%h, %i, %j] : tensor<?x?x4xf32, #relay.dims<b, t>>
    topi.yield %0 : f32
  }
  func.return %r : tensor<?x?x4xf32, #relay.dims<t, b>>
}
func.func @main(%x: tensor<?x?x4xf32, #relay.dims<b, t>>, %w: tensor<4x8xf32>) -> (tensor<?x?x8xf32, #relay.dims<t, b>>, tensor<?x?x8xf32, #relay.dims<b, t>>) {
  %0 = func.call @turn(%x) : (tensor<?x?x4xf32, #relay.dims<b, t>>) -> tensor<?x?x4xf32, #relay.dims<t, b>>
  %1 = func.call @scan(%0, %w) : (tensor<?x?x4xf32, #relay.dims<t, b>>, tensor<4x8xf32>) -> tensor<?x?x8xf32, #relay.dims<t, b>>
  %2 = func.call @sequence(%x, %w) : (tensor<?x?x4xf32, #relay.dims<b, t>>, tensor<4x8xf32>) -> tensor<?x?x8xf32, #relay.dims<b, t>>
  func.return %1, %2 : tensor<?x?x8xf32, #relay.dims<t, b>>, tensor<?x?x8xf32, #relay.dims<b, t>>
}
