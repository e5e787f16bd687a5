// RUN: xrelay-opt %s -p relay-infer-type --split-input-file | filecheck %s

// The bounds of n are known to every op, and recorded where the function returns, which checks them.
// CHECK-LABEL: func.func @main
// CHECK:         relay.max(%x)
// CHECK-SAME:    {axis = [0]}
// CHECK-NEXT:    func.return {relay.requires = #relay.requirements<n >= 1 " promised size", 128 >= n " promised size">}
func.func @main(%x: tensor<?x8xf32, #relay.dims<n>>) -> tensor<8xf32>
    attributes {relay.sizes = {n = array<i64: 1, 128, 8>}} {
  %y = relay.max(%x) {axis = [0]} : (tensor<?x8xf32, #relay.dims<n>>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

// A caller must satisfy the bounds.
// CHECK-LABEL: func.func @caller
// CHECK:         relay.call @callee<n = m>
// CHECK-SAME:    relay.requires = #relay.requirements<m >= 2 "C6 {{.*}}promised size", 4 >= m
func.func @callee(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    attributes {relay.sizes = {n = array<i64: 2, 4, 3>}} {
  %y = relay.exp(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %y : tensor<?xf32, #relay.dims<n>>
}
func.func @caller(%x: tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> {
  %y = relay.call @callee<n = m>(%x) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>>
  func.return %y : tensor<?xf32, #relay.dims<m>>
}
