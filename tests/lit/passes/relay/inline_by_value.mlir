// RUN: xrelay-opt %s -p relay-infer-type,relay-inline | filecheck %s

// An argument that may fail is computed before a call: the call stays where the body can do without it.

// CHECK-LABEL: func.func @ignored
// CHECK:         relay.add
// CHECK:         relay.call @negated
func.func @ignored(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<n>> {
  %s = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  %r = relay.call @negated(%s, %x) : (!relay.incomplete, tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// One that the body needs, or that does not fail, keeps no call.

// CHECK-LABEL: func.func @needed
// CHECK-NOT:     @negated
// CHECK:         return
func.func @needed(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %s = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  %r = relay.call @negated(%x, %s) : (tensor<?xf32, #relay.dims<n>>, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// CHECK-LABEL: func.func @total
// CHECK-NOT:     @negated
// CHECK:         return
func.func @total(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %s = relay.exp(%x) : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  %r = relay.call @negated(%s, %x) : (!relay.incomplete, tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

func.func private @negated(%a: tensor<?xf32, #relay.dims<k>>, %b: tensor<?xf32, #relay.dims<l>>) -> tensor<?xf32, #relay.dims<l>> {
  %0 = relay.negative(%b) : (tensor<?xf32, #relay.dims<l>>) -> tensor<?xf32, #relay.dims<l>>
  func.return %0 : tensor<?xf32, #relay.dims<l>>
}
