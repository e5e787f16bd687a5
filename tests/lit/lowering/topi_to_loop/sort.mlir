// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"},loop-apply-schedules' | filecheck %s --check-prefix=SCHEDULED
// RUN: not xrelay-opt %s -p 'convert-topi-to-loop,loop-vectorize{loop=i0}' 2>&1 | filecheck %s --check-prefix=VECTORIZED

// A loop for each axis of rows, and two scratch rows per row.
// CHECK-LABEL: func.func private @rows
// CHECK-NEXT: %sorted = memref.alloc() : memref<64x1x1000xf32>
// CHECK-NEXT: %order = memref.alloc() : memref<64x1x1000xi64>
// CHECK-NEXT: loop.for "i0" %i0 to 64 {
// CHECK-NEXT:   loop.block "sort" (%v0 : spatial 64 = %i0, %v1 : spatial 1 = 0) reads(%x) writes(%v, %i, %sorted, %order) {
// CHECK-NEXT:     loop.sort %x[%v0, %v1] into %v, %i scratch %sorted, %order {axis = 1 : i64, descending} : memref<64x500x1xf32>
// SCHEDULED-LABEL: func.func private @rows
// SCHEDULED: loop.for "i0" %i0 to 64 parallel {
// VECTORIZED: block 'sort' works on whole rows
func.func private @rows(%x: tensor<64x500x1xf32>) -> (tensor<64x7x1xf32>, tensor<64x7x1xi64>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 1 : i64, descending} : (tensor<64x500x1xf32>) -> (tensor<64x7x1xf32>, tensor<64x7x1xi64>)
  func.return %v, %i : tensor<64x7x1xf32>, tensor<64x7x1xi64>
}

// Rows of a named length, with a named number of kept elements.
// CHECK-LABEL: func.func private @named
// CHECK-SAME: %n: index, %k: index, %extent: index)
// CHECK-SAME: loop.dims = #relay.dims<n, k, 2 * n>
// CHECK-NEXT: %sorted = memref.alloc(%extent) : memref<4x?xf32>
// CHECK: loop.sort %x[%v0] into %v, %i scratch %sorted, %order {axis = 1 : i64} : memref<4x?xf32>
func.func private @named(%x: tensor<4x?xf32, #relay.dims<n>>) -> (tensor<4x?xf32, #relay.dims<k>>, tensor<4x?xi64, #relay.dims<k>>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 1 : i64} : (tensor<4x?xf32, #relay.dims<n>>) -> (tensor<4x?xf32, #relay.dims<k>>, tensor<4x?xi64, #relay.dims<k>>)
  func.return %v, %i : tensor<4x?xf32, #relay.dims<k>>, tensor<4x?xi64, #relay.dims<k>>
}
