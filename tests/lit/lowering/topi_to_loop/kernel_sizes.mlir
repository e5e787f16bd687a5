// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=x86-64-v4 -num-threads=2"}' | filecheck %s --check-prefix=SCHEDULE

// The function's size hints become hints of the kernels' extents; m has none.
// CHECK-LABEL: func.func private @k
// CHECK-SAME:    %n: index {loop.size = array<i64: 1, 128, 8>}
// CHECK-SAME:    %extent: index {loop.size = array<i64: 3, 257, 17>}
// CHECK-SAME:    %m: index)
func.func private @k(%x: tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>, %y: tensor<?xf32, #relay.dims<m>>)
    -> tensor<?x?xf32, #relay.dims<n, 2 * n + 1>> attributes {relay.primitive} {
  %z = topi.compute "k" [%i : n, %j : 2 * n + 1] : tensor<?x?xf32, #relay.dims<n, 2 * n + 1>> {
    %0 = topi.read %x[%i, %j] : tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>
    topi.yield %0 : f32
  }
  func.return %z : tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>
}

// The minimum is that of both callers; the typical values differ.
// CHECK-LABEL: func.func private @both
// CHECK-SAME:    %n: index {loop.size = array<i64: 1, 300, -1>}
func.func private @both(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {relay.primitive} {
  %z = topi.compute "copy" [%i : n] : tensor<?xf32, #relay.dims<n>> {
    %0 = topi.read %x[%i] : tensor<?xf32, #relay.dims<n>>
    topi.yield %0 : f32
  }
  func.return %z : tensor<?xf32, #relay.dims<n>>
}

// Columns with a typical size of 2 are not vectorized.
// SCHEDULE-LABEL: func.func private @narrow
// SCHEDULE-SAME:    j has 2 iterations, too few for lanes
func.func private @narrow(%x: tensor<?x?xf32, #relay.dims<n, k>>) -> tensor<?x?xf32, #relay.dims<n, k>> attributes {relay.primitive} {
  %z = topi.compute "narrow" [%i : n, %j : k] : tensor<?x?xf32, #relay.dims<n, k>> {
    %0 = topi.read %x[%i, %j] : tensor<?x?xf32, #relay.dims<n, k>>
    topi.yield %0 : f32
  }
  func.return %z : tensor<?x?xf32, #relay.dims<n, k>>
}

// A kernel with names of its own has its own hints, and its calls are casts and constants.
// CHECK-LABEL: func.func private @merged
// CHECK-SAME:    %d0: index {loop.size = array<i64: 4, 5, 5>})
// CHECK-SAME:    attributes {loop.num_outputs = 1 : i64, loop.kernel, loop.dims = #relay.dims<d0>}
// CHECK-LABEL: func.func @fixed(%x: memref<4xf32>, %r: memref<4xf32>)
// CHECK-NEXT:    %[[N:.*]] = arith.constant 4 : index
// CHECK-NEXT:    %[[X:.*]] = "memref.cast"(%x) : (memref<4xf32>) -> memref<?xf32>
// CHECK-NEXT:    %[[R:.*]] = "memref.cast"(%r) : (memref<4xf32>) -> memref<?xf32>
// CHECK-NEXT:    func.call @merged(%[[X]], %[[R]], %[[N]])
// CHECK-NEXT:    func.return
func.func private @merged(%x: tensor<?xf32, #relay.dims<d0>>) -> tensor<?xf32, #relay.dims<d0>>
    attributes {relay.primitive, relay.sizes = {d0 = array<i64: 4, 5, 5>}} {
  %z = topi.compute "copy" [%i : d0] : tensor<?xf32, #relay.dims<d0>> {
    %0 = topi.read %x[%i] : tensor<?xf32, #relay.dims<d0>>
    topi.yield %0 : f32
  }
  func.return %z : tensor<?xf32, #relay.dims<d0>>
}
func.func @fixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.call @merged<d0 = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

func.func @main(%x: tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>, %y: tensor<?xf32, #relay.dims<m>>, %v: tensor<?xf32, #relay.dims<n>>,
                %w: tensor<?x?xf32, #relay.dims<n, k>>)
    -> (tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>, tensor<?xf32, #relay.dims<n>>, tensor<?x?xf32, #relay.dims<n, k>>)
    attributes {relay.sizes = {n = array<i64: 1, 128, 8>, k = array<i64: 1, 2, 2>}} {
  %0 = func.call @k(%x, %y) : (tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>
  %1 = func.call @both(%v) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %2 = func.call @narrow(%w) : (tensor<?x?xf32, #relay.dims<n, k>>) -> tensor<?x?xf32, #relay.dims<n, k>>
  func.return %0, %1, %2 : tensor<?x?xf32, #relay.dims<n, 2 * n + 1>>, tensor<?xf32, #relay.dims<n>>, tensor<?x?xf32, #relay.dims<n, k>>
}
func.func @other(%v: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    attributes {relay.sizes = {n = array<i64: 5, 300, 300>}} {
  %1 = func.call @both(%v) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %1 : tensor<?xf32, #relay.dims<n>>
}
