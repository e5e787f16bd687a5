// RUN: xrelay-opt %s -p relay-infer-type,relay-specialize-functions | filecheck %s
// RUN: not xrelay-opt %s -p "relay-infer-type,relay-specialize-functions{max-ops=9}" 2>&1 | filecheck %s --check-prefix=LIMIT

// LIMIT: relay-specialize-functions: the copies have too many ops; help: raise max-ops

// Calls with equal extents share a copy; its callees are specialised too.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %[[A:.*]] = func.call @rows_8(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %[[B:.*]] = func.call @rows_8(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %[[C:.*]] = func.call @rows_3(%y) : (tensor<3x4xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<8x4xf32>, %y: tensor<3x4xf32>) -> !relay.incomplete {
  %a = relay.call @rows(%x) : (tensor<8x4xf32>) -> !relay.incomplete
  %b = relay.call @rows(%x) : (tensor<8x4xf32>) -> !relay.incomplete
  %c = relay.call @rows(%y) : (tensor<3x4xf32>) -> !relay.incomplete
  %r = relay.tuple(%a, %b, %c) : (!relay.incomplete, !relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
// CHECK-LABEL: func.func private @rows(
// CHECK-LABEL: func.func private @rows_8(%x: tensor<8x4xf32>) -> tensor<8xf32>
// CHECK:         func.call @flat_32(%{{.*}}) : (tensor<32xf32>) -> tensor<32xf32>
// CHECK-LABEL: func.func private @rows_3(%x: tensor<3x4xf32>) -> tensor<3xf32>
func.func private @rows(%x: tensor<?x4xf32, #relay.dims<n>>) -> !relay.incomplete {
  %0 = relay.reshape(%x) {newshape = [-1]} : (tensor<?x4xf32, #relay.dims<n>>) -> !relay.incomplete
  %1 = relay.call @flat(%0) : (!relay.incomplete) -> !relay.incomplete
  %2 = relay.reshape(%1) {newshape = [-1, 4]} : (!relay.incomplete) -> !relay.incomplete
  %3 = relay.sum(%2) {axis = [1]} : (!relay.incomplete) -> !relay.incomplete
  func.return %3 : !relay.incomplete
}
func.func private @flat(%x: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %0 = relay.nn.relu(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// Unchanged: unknown extents, recursive functions, functions without a body. Extents that a copy defines keep their names.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NEXT:    relay.call @rows<n = m>
// CHECK-NEXT:    relay.call @again<n = 3>
// CHECK-NEXT:    relay.call @outside<n = 3>
// CHECK-NEXT:    relay.call @found_3<k = k>(%{{.*}}) {relay.binds = #relay.bounds<k <= 3>} : (tensor<3xf32>) -> tensor<?x1xi32, #relay.dims<k>>
func.func @left_alone(%x: tensor<?x4xf32, #relay.dims<m>>, %y: tensor<3xf32>) {
  %a = relay.call @rows(%x) : (tensor<?x4xf32, #relay.dims<m>>) -> !relay.incomplete
  %b = relay.call @again(%y) : (tensor<3xf32>) -> tensor<3xf32>
  %c = relay.call @outside(%y) : (tensor<3xf32>) -> tensor<3xf32>
  %d = relay.call @found(%y) : (tensor<3xf32>) -> !relay.incomplete
  func.return
}
func.func private @again(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %0 = relay.call @again(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %0 : tensor<?xf32, #relay.dims<n>>
}
func.func private @outside(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func private @found(%x: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %0 = relay.argwhere(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
