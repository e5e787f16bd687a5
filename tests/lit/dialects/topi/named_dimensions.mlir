// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @extents
func.func @extents(%x: tensor<?x8xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  // CHECK-NEXT: topi.compute "sum" [%i : n] reduce [%k : 8, %l : 2 * n + 1] init [%acc = 0.000000e+00 : f32] : tensor<?xf32, #relay.dims<n>> {
  %r = topi.compute "sum" [%i : n] reduce [%k : 8, %l : 1 + n * 2] init [%acc = 0.0 : f32] : tensor<?xf32, #relay.dims<n>> {
    %a = topi.read %x[%i, %k] : tensor<?x8xf32, #relay.dims<n>>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// Names occur in index expressions, with index values, in products and quotients.
// CHECK-LABEL: @places
func.func @places(%x: tensor<?xf32, #relay.dims<n * m>>) -> tensor<?x?xf32, #relay.dims<n, m>> {
  %r = topi.compute "places" [%i : n, %j : m] : tensor<?x?xf32, #relay.dims<n, m>> {
    // CHECK: topi.in_bounds [%i - n, %j floordiv (m + 1)] of [m, broadcast(m, n)]
    %inside = topi.in_bounds [%i - n, %j floordiv (m + 1)] of [m, broadcast(n, m)]
    %v = topi.guard (%inside) -> f32 {
      // CHECK: topi.read %x[%i * m + %j mod (n * m) - n floordiv 2] : tensor<?xf32, #relay.dims<m * n>>
      %a = topi.read %x[%i * m + %j mod (n * m) - n floordiv 2] : tensor<?xf32, #relay.dims<n * m>>
      topi.yield %a : f32
    } else {
      // CHECK: topi.read %x[%i * max(0, min(1, n - 1))]
      %a = topi.read %x[%i * max(0, min(1, n - 1))] : tensor<?xf32, #relay.dims<n * m>>
      topi.yield %a : f32
    }
    // CHECK: topi.index [n * 2 + 1]
    %count = topi.index [n * 2 + 1]
    // CHECK-NEXT: topi.checked_index %{{.*}} of m + n from_end
    %c = topi.checked_index %count of n + m from_end
    topi.yield %v : f32
  }
  func.return %r : tensor<?x?xf32, #relay.dims<n, m>>
}

// CHECK-LABEL: @others
func.func @others(%x: tensor<?x?xf32, #relay.dims<n, m>>, %at: tensor<?xindex, #relay.dims<m>>) -> tensor<?x?xf32, #relay.dims<n, m>> {
  // CHECK-NEXT: topi.scan "cumsum" [%i : n, %k : m] along %k init [%acc = 0.000000e+00 : f32]
  %s = topi.scan "cumsum" [%i : n, %k : m] along %k init [%acc = 0.0 : f32] : tensor<?x?xf32, #relay.dims<n, m>> {
    %a = topi.read %x[%i, %k] : tensor<?x?xf32, #relay.dims<n, m>>
    %b = arith.addf %acc, %a : f32
    topi.yield %b : f32
  }
  // CHECK: topi.scatter "scatter" [%i : n, %k : m] add into %s
  %u = topi.scatter "scatter" [%i : n, %k : m] add into %s : tensor<?x?xf32, #relay.dims<n, m>> {
    %p = topi.read %at[%k] : tensor<?xindex, #relay.dims<m>>
    %one = arith.constant 1.0 : f32
    topi.yield %i, %p, %one : index, index, f32
  }
  // CHECK: topi.sort(%u) {axis = 1 : i64} : (tensor<?x?xf32, #relay.dims<n, m>>) -> (tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xi64, #relay.dims<n>>)
  %v, %w = topi.sort(%u) {axis = 1 : i64} : (tensor<?x?xf32, #relay.dims<n, m>>) -> (tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xi64, #relay.dims<n>>)
  %mask = topi.compute "mask" [%i : n, %k : m] : tensor<?x?xi1, #relay.dims<n, m>> {
    %t = arith.constant true
    topi.yield %t : i1
  }
  // CHECK: topi.positions(%mask) : (tensor<?x?xi1, #relay.dims<n, m>>) -> (tensor<?xi64, #relay.dims<m * n>>, tensor<i64>)
  %p, %c = topi.positions(%mask) : (tensor<?x?xi1, #relay.dims<n, m>>) -> (tensor<?xi64, #relay.dims<m * n>>, tensor<i64>)
  func.return %u : tensor<?x?xf32, #relay.dims<n, m>>
}

// CHECK-LABEL: @named
func.func @named(%x: tensor<?x3x?x8xf32, #relay.dims<n, h>>, %w: tensor<4x3x3x3xf32>, %q: tensor<?x?xf32, #relay.dims<n, k>>, %packed: tensor<2x?x16xf32, #relay.dims<k>>) {
  // CHECK-NEXT: topi.conv2d_nchw(%x, %w) : {{.*}} -> tensor<?x4x?x6xf32, #relay.dims<n, h - 2>>
  %c = topi.conv2d_nchw(%x, %w) : (tensor<?x3x?x8xf32, #relay.dims<n, h>>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x6xf32, #relay.dims<n, h - 2>>
  // CHECK-NEXT: topi.pool2d(%x)
  %p = topi.pool2d(%x) {kind = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
       : (tensor<?x3x?x8xf32, #relay.dims<n, h>>) -> tensor<?x3x?x4xf32, #relay.dims<n, h floordiv 2>>
  // CHECK-NEXT: topi.batch_matmul(%q, %q)
  %b = topi.batch_matmul(%q, %q) {transpose_right = true}
       : (tensor<?x?xf32, #relay.dims<n, k>>, tensor<?x?xf32, #relay.dims<n, k>>) -> tensor<?x?xf32, #relay.dims<n, n>>
  // CHECK-NEXT: topi.matmul(%q, %packed)
  %d = topi.matmul(%q, %packed) : (tensor<?x?xf32, #relay.dims<n, k>>, tensor<2x?x16xf32, #relay.dims<k>>) -> tensor<?x32xf32, #relay.dims<n>>
  // CHECK-NEXT: topi.softmax(%b)
  %s = topi.softmax(%b) {axis = 1 : i64} : (tensor<?x?xf32, #relay.dims<n, n>>) -> tensor<?x?xf32, #relay.dims<n, n>>
  func.return
}
