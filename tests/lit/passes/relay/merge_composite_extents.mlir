// RUN: xrelay-opt %s --remarks=relay-merge-composite -p 'relay-merge-composite{chains="acme.found:nn.relu|exp:argwhere"}' 2>&1 | filecheck %s
// RUN: not xrelay-opt %s -p 'relay-merge-composite{table=nobody}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xrelay-opt %s -p 'relay-merge-composite{chains="acme"}' 2>&1 | filecheck %s --check-prefix=WRONG

// UNKNOWN: no table of patterns is called 'nobody'
// WRONG: 'acme' is no chain of operators

// An op that defines a named extent stays where its name is in scope.
// CHECK: remark: relay-merge-composite: relay.argwhere: relay.argwhere makes the extent k, which only the function would know
// CHECK-LABEL: @found(
// CHECK-NOT:     relay.fn
func.func @found(%x: tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<k>> {
  %r = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %i = relay.argwhere(%r) {relay.binds = #relay.bounds<k <= 4>} : (tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<k>>
  func.return %i : tensor<?x1xi32, #relay.dims<k>>
}
