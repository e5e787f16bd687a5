// RUN: xrelay-opt %s -p topi-add-versions | filecheck %s
// RUN: xrelay-opt %s -p topi-add-versions | grep -c loop.version | filecheck %s --check-prefix=COUNT
// RUN: sed 's/n = array<i64: 1, 128, 1>/k = array<i64: 0, 99, 8>, n = array<i64: 1, 128, 8>/' %s | xrelay-opt -p topi-add-versions | filecheck %s --check-prefix=BOTH
// RUN: sed 's/n = array<i64: 1, 128, 1>/k = array<i64: 2, 99, 8>/' %s | xrelay-opt -p topi-add-versions | grep -c loop.version | filecheck %s --check-prefix=TWO
// RUN: sed 's/ attributes {relay.sizes = .*}}//' %s | xrelay-opt -p topi-add-versions | filecheck %s --check-prefix=OPEN
// RUN: xrelay-opt %s -p topi-add-versions,convert-topi-to-loop | filecheck %s --check-prefix=LOOP

// One version each: for 1 row without a hint, else for the typical size. None: static or large numbers, no product.
// COUNT: 3
// CHECK-LABEL: func.func private @few
// CHECK-LABEL: func.func private @usual
// CHECK-LABEL: func.func private @depth
// CHECK-LABEL: func.func private @many
// CHECK-LABEL: func.func private @copy
// CHECK-LABEL: func.func private @two
// CHECK-LABEL: func.func @main
// CHECK:       func.func private @few_k1(%x: tensor<1x4xf32>, %w: tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK-SAME:    loop.version = {of = @few, sizes = {k = 1 : i64}, reason = "no typical size is given: a product of 1 row"}
// CHECK:       func.func private @usual_n1(
// CHECK-SAME:    sizes = {n = 1 : i64}, reason = "typical sizes: a product of 1 row"
// CHECK:       func.func private @two_k1_n1(
// CHECK-SAME:    sizes = {k = 1 : i64, n = 1 : i64}, reason = "typical sizes, and 1 for k, without a typical size: a product of 1 row"

// Besides the typical size, 1 has a version, unless the minimum is greater.
// BOTH: @few_k8(
// BOTH-SAME: reason = "typical sizes: a product of 8 rows"
// BOTH: @few_k1(
// BOTH-SAME: reason = "not typical, but faster than a whole tile: a product of 1 row"
// TWO: 3

// Names that are not numbers of rows stay dynamic.
// OPEN: @two_k1(%x: tensor<1x?xf32, #relay.dims<n>>, %w: tensor<?x8xf32, #relay.dims<n>>) -> tensor<1x8xf32>
// OPEN-SAME: sizes = {k = 1 : i64}, reason = "no typical size is given: a product of 1 row"

// With a version for 1 the kernel handles greater sizes.
// LOOP-LABEL: func.func private @usual
// LOOP-SAME:    %n: index {loop.size = array<i64: 1, 128, -1>}
// LOOP:       func.func private @usual_n1(%x: memref<1x4xf32>, %w: memref<4x8xf32>, %r: memref<1x8xf32>)
func.func private @few(%x: tensor<?x4xf32, #relay.dims<k>>, %w: tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<k>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : k, %j : 8] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<?x8xf32, #relay.dims<k>> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %k] : tensor<?x4xf32, #relay.dims<k>>
    %1 = topi.read %w[%k, %j] : tensor<4x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x8xf32, #relay.dims<k>>
}
func.func private @usual(%x: tensor<?x4xf32, #relay.dims<n>>, %w: tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<n>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : n, %j : 8] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<?x8xf32, #relay.dims<n>> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %k] : tensor<?x4xf32, #relay.dims<n>>
    %1 = topi.read %w[%k, %j] : tensor<4x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x8xf32, #relay.dims<n>>
}
func.func private @depth(%x: tensor<4x?xf32, #relay.dims<k>>, %w: tensor<?x8xf32, #relay.dims<k>>) -> tensor<4x8xf32> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : 4, %j : 8] reduce [%k : k] init [%acc = 0.0 : f32] : tensor<4x8xf32> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %k] : tensor<4x?xf32, #relay.dims<k>>
    %1 = topi.read %w[%k, %j] : tensor<?x8xf32, #relay.dims<k>>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<4x8xf32>
}
func.func private @many(%x: tensor<?x4xf32, #relay.dims<100 * n>>, %w: tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<100 * n>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : 100 * n, %j : 8] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<?x8xf32, #relay.dims<100 * n>> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %k] : tensor<?x4xf32, #relay.dims<100 * n>>
    %1 = topi.read %w[%k, %j] : tensor<4x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x8xf32, #relay.dims<100 * n>>
}
func.func private @copy(%x: tensor<?x4xf32, #relay.dims<k>>, %w: tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<k>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : k, %j : 8] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<?x8xf32, #relay.dims<k>> attributes {topi.expanded_from = "topi.pool2d"} {
    %0 = topi.read %x[%i, %k] : tensor<?x4xf32, #relay.dims<k>>
    %1 = topi.read %w[%k, %j] : tensor<4x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x8xf32, #relay.dims<k>>
}
func.func private @two(%x: tensor<?x?xf32, #relay.dims<k, n>>, %w: tensor<?x8xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<k>> attributes {relay.primitive} {
  %r = topi.compute "matmul" [%i : k, %j : 8] reduce [%k : n] init [%acc = 0.0 : f32] : tensor<?x8xf32, #relay.dims<k>> attributes {topi.expanded_from = "topi.matmul"} {
    %0 = topi.read %x[%i, %k] : tensor<?x?xf32, #relay.dims<k, n>>
    %1 = topi.read %w[%k, %j] : tensor<?x8xf32, #relay.dims<n>>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<?x8xf32, #relay.dims<k>>
}
func.func @main(%x: tensor<?x4xf32, #relay.dims<k>>, %y: tensor<?x4xf32, #relay.dims<n>>, %z: tensor<4x?xf32, #relay.dims<k>>,
    %u: tensor<?x8xf32, #relay.dims<k>>, %v: tensor<?x4xf32, #relay.dims<100 * n>>, %a: tensor<?x?xf32, #relay.dims<k, n>>,
    %b: tensor<?x8xf32, #relay.dims<n>>, %w: tensor<4x8xf32>)
    -> (tensor<?x8xf32, #relay.dims<k>>, tensor<?x8xf32, #relay.dims<n>>, tensor<4x8xf32>, tensor<?x8xf32, #relay.dims<100 * n>>,
        tensor<?x8xf32, #relay.dims<k>>, tensor<?x8xf32, #relay.dims<k>>) attributes {relay.sizes = {n = array<i64: 1, 128, 1>}} {
  %0 = func.call @few(%x, %w) : (tensor<?x4xf32, #relay.dims<k>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<k>>
  %1 = func.call @usual(%y, %w) : (tensor<?x4xf32, #relay.dims<n>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<n>>
  %2 = func.call @depth(%z, %u) : (tensor<4x?xf32, #relay.dims<k>>, tensor<?x8xf32, #relay.dims<k>>) -> tensor<4x8xf32>
  %3 = func.call @many(%v, %w) : (tensor<?x4xf32, #relay.dims<100 * n>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<100 * n>>
  %4 = func.call @copy(%x, %w) : (tensor<?x4xf32, #relay.dims<k>>, tensor<4x8xf32>) -> tensor<?x8xf32, #relay.dims<k>>
  %5 = func.call @two(%a, %b) : (tensor<?x?xf32, #relay.dims<k, n>>, tensor<?x8xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<k>>
  func.return %0, %1, %2, %3, %4, %5 : tensor<?x8xf32, #relay.dims<k>>, tensor<?x8xf32, #relay.dims<n>>, tensor<4x8xf32>,
    tensor<?x8xf32, #relay.dims<100 * n>>, tensor<?x8xf32, #relay.dims<k>>, tensor<?x8xf32, #relay.dims<k>>
}
