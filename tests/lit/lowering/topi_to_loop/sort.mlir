// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"},loop-apply-schedules' | filecheck %s --check-prefix=SCHEDULED
// RUN: not xrelay-opt %s -p 'convert-topi-to-loop,loop-vectorize{loop=i0}' 2>&1 | filecheck %s --check-prefix=VECTORIZED

// A loop for each axis of rows, and scratch for each row, here of two times seven elements.
// CHECK-LABEL: func.func private @rows
// CHECK-NEXT: %keys = memref.alloc() : memref<64x1x14xi32>
// CHECK-NEXT: %order = memref.alloc() : memref<64x1x14xi64>
// CHECK-NEXT: loop.for "i0" %i0 to 64 {
// CHECK-NEXT:   loop.block "sort" (%v0 : spatial 64 = %i0, %v1 : spatial 1 = 0) reads(%x) writes(%v, %i, %keys, %order) {
// CHECK-NEXT:     loop.sort %x[%v0, %v1] into %v, %i scratch %keys, %order {axis = 1 : i64, descending, selects} : memref<64x600x1xf32>
// SCHEDULED-LABEL: func.func private @rows
// SCHEDULED: loop.for "i0" %i0 to 64 parallel {
// VECTORIZED: block 'sort' works on whole rows
func.func private @rows(%x: tensor<64x600x1xf32>) -> (tensor<64x7x1xf32>, tensor<64x7x1xi64>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 1 : i64, descending} : (tensor<64x600x1xf32>) -> (tensor<64x7x1xf32>, tensor<64x7x1xi64>)
  func.return %v, %i : tensor<64x7x1xf32>, tensor<64x7x1xi64>
}

// To keep more elements, the scratch has room for two times 2 * 17 + 64 candidates.
// CHECK-LABEL: func.func private @more
// CHECK-NEXT: %keys = memref.alloc() : memref<196xi64>
// CHECK: {axis = 0 : i64, selects} : memref<500xf64>
func.func private @more(%x: tensor<500xf64>) -> (tensor<17xf64>, tensor<17xi64>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<500xf64>) -> (tensor<17xf64>, tensor<17xi64>)
  func.return %v, %i : tensor<17xf64>, tensor<17xi64>
}

// All elements are in the scratch, because the candidates would be more than the elements.
// CHECK-LABEL: func.func private @most
// CHECK-NEXT: %keys = memref.alloc() : memref<500xi16>
// CHECK: loop.sort %x[] into %v, %i scratch %keys, %order {axis = 0 : i64} : memref<250xf16>
func.func private @most(%x: tensor<250xf16>) -> (tensor<100xf16>, tensor<100xi64>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<250xf16>) -> (tensor<100xf16>, tensor<100xi64>)
  func.return %v, %i : tensor<100xf16>, tensor<100xi64>
}

// Rows of a named length, with a named number of kept elements.
// CHECK-LABEL: func.func private @named
// CHECK-SAME: %n: index, %k: index, %extent: index)
// CHECK-SAME: loop.dims = #relay.dims<n, k, 4 * k + 128>
// CHECK-NEXT: %keys = memref.alloc(%extent) : memref<4x?xi32>
// CHECK: loop.sort %x[%v0] into %v, %i scratch %keys, %order {axis = 1 : i64, selects} : memref<4x?xf32>
func.func private @named(%x: tensor<4x?xf32, #relay.dims<n>>) -> (tensor<4x?xf32, #relay.dims<k>>, tensor<4x?xi64, #relay.dims<k>>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 1 : i64} : (tensor<4x?xf32, #relay.dims<n>>) -> (tensor<4x?xf32, #relay.dims<k>>, tensor<4x?xi64, #relay.dims<k>>)
  func.return %v, %i : tensor<4x?xf32, #relay.dims<k>>, tensor<4x?xi64, #relay.dims<k>>
}

// All elements of rows of a named length.
// CHECK-LABEL: func.func private @all
// CHECK-SAME: loop.dims = #relay.dims<n, 2 * n>
// CHECK: {axis = 0 : i64} : memref<?xf32>
func.func private @all(%x: tensor<?xf32, #relay.dims<n>>) -> (tensor<?xf32, #relay.dims<n>>, tensor<?xi64, #relay.dims<n>>) attributes {relay.primitive} {
  %v, %i = topi.sort(%x) {axis = 0 : i64} : (tensor<?xf32, #relay.dims<n>>) -> (tensor<?xf32, #relay.dims<n>>, tensor<?xi64, #relay.dims<n>>)
  func.return %v, %i : tensor<?xf32, #relay.dims<n>>, tensor<?xi64, #relay.dims<n>>
}
