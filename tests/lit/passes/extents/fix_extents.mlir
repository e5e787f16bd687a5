// RUN: xrelay-opt %s --split-input-file -p relay-infer-type,relay-fix-extents | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p relay-infer-type,relay-fix-extents,relay-fix-extents | filecheck %s

// The weight has 64 columns, so `c` is 64, and `m` equals it. The batch stays dynamic, and has the only hint left.
// CHECK-LABEL: func.func @main(%x: tensor<?x64xf32, #relay.dims<n>>, %z: tensor<?x64xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<n>>
// CHECK-SAME:    relay.sizes = {n = array<i64: 1, 9, 4>}
// CHECK-NOT:     "C
// CHECK:         func.return
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, c>>, %z: tensor<?x?xf32, #relay.dims<n, m>>) -> !relay.incomplete
    attributes {relay.sizes = {n = array<i64: 1, 9, 4>, c = array<i64: 1, 99, 8>}} {
  %w = relay.constant dense<1.0> : tensor<8x64xf32>
  %t = relay.tuple(%x, %z) : (tensor<?x?xf32, #relay.dims<n, c>>, tensor<?x?xf32, #relay.dims<n, m>>) -> !relay.incomplete
  %s = relay.stack(%t) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
  %a = relay.sum(%s) {axis = [0]} : (!relay.incomplete) -> !relay.incomplete
  %y = relay.nn.dense(%a, %w) : (!relay.incomplete, tensor<8x64xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// -----

// Only one branch requires 64 columns, and the result of the other product is not needed.
// CHECK-LABEL: func.func @main(%p: tensor<i1>, %x: tensor<?x?xf32, #relay.dims<n, c>>)
func.func @main(%p: tensor<i1>, %x: tensor<?x?xf32, #relay.dims<n, c>>) -> !relay.incomplete {
  %w = relay.constant dense<1.0> : tensor<8x64xf32>
  %unused = relay.nn.dense(%x, %w) : (tensor<?x?xf32, #relay.dims<n, c>>, tensor<8x64xf32>) -> !relay.incomplete
  %y = relay.if %p : tensor<i1> -> !relay.incomplete {
    %a = relay.nn.dense(%x, %w) : (tensor<?x?xf32, #relay.dims<n, c>>, tensor<8x64xf32>) -> !relay.incomplete
    relay.yield %a : !relay.incomplete
  } else {
    %b = relay.constant dense<1.0> : tensor<1x8xf32>
    %v = relay.sum(%x) : (tensor<?x?xf32, #relay.dims<n, c>>) -> !relay.incomplete
    %d = relay.add(%b, %v) : (tensor<1x8xf32>, !relay.incomplete) -> !relay.incomplete
    relay.yield %d : !relay.incomplete
  }
  func.return %y : !relay.incomplete
}

// -----

// Another function calls `@main`.
// CHECK-LABEL: func.func @main(%x: tensor<?xf32, #relay.dims<c>>)
func.func @main(%x: tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete {
  %y = relay.reshape(%x) {newshape = [64]} : (tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
func.func @other(%x: tensor<?xf32, #relay.dims<d>>) -> !relay.incomplete {
  %y = relay.call @main<c = d>(%x) : (tensor<?xf32, #relay.dims<d>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
