// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// An index argument for each distinct dimension: those of buffers first, then those of loops and indices.
// CHECK-LABEL: func.func private @window(
// CHECK-SAME: %x: memref<?x8xf32> {loop.extents = array<i64: 0>}, %r: memref<?xf32> {loop.extents = array<i64: 1>},
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[M:.*]]: index) attributes
// CHECK-SAME: loop.kernel, loop.dims = #relay.dims<2 * n, n, m>
func.func private @window(%x: tensor<?x8xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<n>> attributes {relay.primitive} {
  // CHECK-NEXT: loop.for "i" %i to %[[N:.*]] {
  // CHECK-NEXT: loop.for "k" %k to %[[M]] {
  // CHECK-NEXT: loop.block "window" (%vi : spatial %[[N]] = %i, %vk : reduce %[[M]] = %k) reads(%x) writes(%r) init {
  %r = topi.compute "window" [%i : n] reduce [%k : m] init [%acc = 0.0 : f32] : tensor<?xf32, #relay.dims<n>> {
    // CHECK: loop.load %x[%vi + %[[N]], %vk mod 8]
    %a = topi.read %x[%i + n, %k mod 8] : tensor<?x8xf32, #relay.dims<2 * n>>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// Factors of the same index share one argument; a subtracted term has its own.
// CHECK-LABEL: func.func private @factors(
// CHECK-SAME: loop.dims = #relay.dims<m * n, n, m, m + n, 2 * n>
func.func private @factors(%x: tensor<?xf32, #relay.dims<n * m>>) -> tensor<?x?xf32, #relay.dims<n, m>> attributes {relay.primitive} {
  %r = topi.compute "factors" [%i : n, %j : m] : tensor<?x?xf32, #relay.dims<n, m>> {
    %at = topi.index [%i * m + %i * n + %j - 2 * n + 3]
    // CHECK: arith.muli
    // CHECK: arith.cmpi ult
    %inside = topi.in_bounds [%i * m + %i * n + %j - 2 * n + 3] of [n * m]
    %v = topi.guard (%inside) -> f32 {
      // CHECK: loop.load %x[%vi * %{{.*}} + %vj - %{{.*}} + 3] : memref<?xf32>
      %a = topi.read %x[%i * m + %i * n + %j - 2 * n + 3] : tensor<?xf32, #relay.dims<n * m>>
      topi.yield %a : f32
    } else {
      %zero = arith.constant 0.0 : f32
      topi.yield %zero : f32
    }
    topi.yield %v : f32
  }
  func.return %r : tensor<?x?xf32, #relay.dims<n, m>>
}

// A buffer between two computes has the extents of its contents; a condition that is always true is removed.
// CHECK-LABEL: func.func private @between(
func.func private @between(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {relay.primitive} {
  // CHECK-NEXT: memref.alloc(%{{.*}}) : memref<?xf32>
  %t = topi.compute "twice" [%i : n + 1] : tensor<?xf32, #relay.dims<n + 1>> {
    // CHECK-NOT: arith.cmpi
    %inside = topi.in_bounds [%i] of [n + 1]
    %v = topi.guard (%inside) -> f32 {
      %zero = arith.constant 0.0 : f32
      topi.yield %zero : f32
    } else {
      %one = arith.constant 1.0 : f32
      topi.yield %one : f32
    }
    topi.yield %v : f32
  }
  // CHECK: loop.load %{{.*}}[%{{.*}} + 1] : memref<?xf32>
  %r = topi.compute "shift" [%i : n] : tensor<?xf32, #relay.dims<n>> {
    %a = topi.read %t[%i + 1] : tensor<?xf32, #relay.dims<n + 1>>
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// A reverse scan begins at the last element.
// CHECK-LABEL: func.func private @scan(
func.func private @scan(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {relay.primitive} {
  // CHECK: loop.for "k" %k to %[[N:.*]] {
  // CHECK: loop.load %x[%vk * -1 + %[[N]] - 1] : memref<?xf32>
  %r = topi.scan "cumsum" [%k : n] along %k reverse init [%acc = 0.0 : f32] : tensor<?xf32, #relay.dims<n>> {
    %a = topi.read %x[%k] : tensor<?xf32, #relay.dims<n>>
    %b = arith.addf %acc, %a : f32
    topi.yield %b : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// CHECK-LABEL: func.func private @checked(
func.func private @checked(%x: tensor<?xf32, #relay.dims<n>>, %at: tensor<4xindex>) -> tensor<4xf32> attributes {relay.primitive} {
  %r = topi.compute "take" [%i : 4] : tensor<4xf32> {
    %k = topi.read %at[%i] : tensor<4xindex>
    // CHECK: %c = loop.checked_index %k of %n from_end
    %c = topi.checked_index %k of n from_end
    %a = topi.read %x[%c] : tensor<?xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %r : tensor<4xf32>
}
