// RUN: xrelay-opt %s -p relay-outline-fused | filecheck %s

!m = tensor<?xf32, #relay.dims<m>>
!n = tensor<?xf32, #relay.dims<n>>

// A call by names takes and returns tensors, with its bindings and requirements.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %{{.*}} = relay.call @f<n = m, k = j>(%x, %x) {relay.binds = #relay.bounds<j>, relay.requires = #relay.requirements<m >= 1>} : (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<j>>
func.func @main(%x: !m) -> tensor<?xf32, #relay.dims<j>> {
  %t = relay.tuple(%x, %x) : (!m, !m) -> tuple<!m, !m>
  %a = relay.call @f<n = m, k = j>(%t) {relay.binds = #relay.bounds<j>, relay.requires = #relay.requirements<m >= 1>}
    : (tuple<!m, !m>) -> tensor<?xf32, #relay.dims<j>>
  func.return %a : tensor<?xf32, #relay.dims<j>>
}

func.func private @f(%p: tuple<!n, !n>) -> tensor<?xf32, #relay.dims<k>> {
  %a = relay.concatenate(%p) {relay.requires = #relay.requirements<2 * n == k>} : (tuple<!n, !n>) -> tensor<?xf32, #relay.dims<k>>
  func.return %a : tensor<?xf32, #relay.dims<k>>
}

// A call whose names are not inferred yet stays for inference.
// CHECK-LABEL: func.func @open
// CHECK-NEXT:    %{{.*}} = relay.call @f(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> !relay.incomplete
func.func @open(%x: tensor<3xf32>) {
  %t = relay.tuple(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
  %a = relay.call @f(%t) : (tuple<tensor<3xf32>, tensor<3xf32>>) -> !relay.incomplete
  func.return
}

// A field with a more precise extent than its tuple: the requirement is at a separate kernel.
// CHECK-LABEL: func.func @field
// CHECK:         %[[F:.*]] = relay.tuple_get_item(%l) {index = 0} : {{.*}} -> tensor<?xf32, #relay.dims<d>>
// CHECK-NEXT:    %[[R:.*]] = func.call @fused_require(%[[F]]) : (tensor<?xf32, #relay.dims<d>>) -> tensor<4xf32>
// CHECK-NEXT:    func.call @fused_exp(%[[R]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:       func.func private @fused_require
// CHECK-NEXT:    relay.require(%{{.*}}) {relay.requires = #relay.requirements<d == 4 "C0 result extent">}
func.func @field(%n: tensor<i64>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
  %l = relay.loop(%i, %c : tensor<?xf32, #relay.dims<k>> = %x : tensor<?xf32, #relay.dims<n>>) to %n : tensor<i64>
      -> tuple<tensor<?xf32, #relay.dims<d>>> attributes {relay.binds = #relay.bounds<d>} {
    %t = relay.tuple(%c) : (tensor<?xf32, #relay.dims<k>>) -> tuple<tensor<?xf32, #relay.dims<k>>>
    relay.yield %t : tuple<tensor<?xf32, #relay.dims<k>>>
  }
  %f = relay.tuple_get_item(%l) {index = 0, relay.requires = #relay.requirements<d == 4 "C0 result extent">}
      : (tuple<tensor<?xf32, #relay.dims<d>>>) -> tensor<4xf32>
  %e = relay.exp(%f) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
