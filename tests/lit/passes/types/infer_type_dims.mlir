// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | xrelay-opt -p relay-infer-type | filecheck %s

// Each `?` of a parameter gets a name; a rule's requirement on names is recorded once.
// CHECK-LABEL: @parameters(
// CHECK-SAME: %x: tensor<?x?xf32, #relay.dims<d0, d1>>, %y: tensor<?x?xf32, #relay.dims<d2, d3>>) -> tensor<?x?xf32, #relay.dims<d0, d2>>
func.func @parameters(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> !relay.incomplete {
  // CHECK: %z = relay.nn.dense(%x, %y) {relay.requires = #relay.requirements<d1 == d3 "C2 data's last extent and weight's second differ">}
  // CHECK: %w = relay.nn.dense(%x, %y) : (
  %z = relay.nn.dense(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> !relay.incomplete
  %w = relay.nn.dense(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> !relay.incomplete
  %s = relay.add(%z, %w) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}

// 16 * ((c + 15) floordiv 16) is c only for multiples of 16.
// CHECK-LABEL: @channels(
func.func @channels(%x: tensor<1x?x8x8xf32, #relay.dims<16 * ((c + 15) floordiv 16)>>, %w: tensor<4x?x3x3xf32, #relay.dims<c>>) -> !relay.incomplete {
  // CHECK: relay.requires = #relay.requirements<c == 16 * ((c + 15) floordiv 16) "C3 kernel in-channels">
  %z = relay.nn.conv2d(%x, %w) : (tensor<1x?x8x8xf32, #relay.dims<16 * ((c + 15) floordiv 16)>>, tensor<4x?x3x3xf32, #relay.dims<c>>) -> !relay.incomplete
  func.return %z : !relay.incomplete
}

// Branches that differ in extent yield an extent that the if defines.
// CHECK-LABEL: @branches(
func.func @branches(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<2 * a>>, %y: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  // CHECK: relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<d0>> attributes {relay.binds = #relay.bounds<d0>}
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    relay.yield %x : tensor<?xf32, #relay.dims<2 * a>>
  } else {
    relay.yield %y : tensor<?xf32, #relay.dims<n>>
  }
  func.return %r : !relay.incomplete
}

// A result declared with extent n has that extent: the branch that yields another one has a requirement.
// CHECK-LABEL: @claimed(
func.func @claimed(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<2 * a>>, %y: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<n>> {
    // CHECK: relay.yield %x {relay.requires = #relay.requirements<2 * a == n "C0 yielded extent">}
    relay.yield %x : tensor<?xf32, #relay.dims<2 * a>>
  } else {
    // CHECK: relay.yield %y : tensor
    relay.yield %y : tensor<?xf32, #relay.dims<n>>
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// Static extents that differ are no contradiction between branches either.
// CHECK-LABEL: @known_branches(
func.func @known_branches(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) -> !relay.incomplete {
  // CHECK: relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<d0>>
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<5xf32>
  }
  func.return %r : !relay.incomplete
}

// Of two extents that may differ, the result has the one that is not 1; a requirement that the first creates is not one
// of the second.
// CHECK-LABEL: @broadcasting(
// CHECK-SAME: -> tensor<?xf32, #relay.dims<broadcast(m, n)>>
func.func @broadcasting(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  // CHECK: relay.add(%x, %y) {relay.requires = #relay.requirements<broadcastable(n, m) "C2 extents">}
  %z = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  // CHECK: relay.add(%z, %y) : (
  %w = relay.add(%z, %y) : (!relay.incomplete, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  func.return %w : !relay.incomplete
}
