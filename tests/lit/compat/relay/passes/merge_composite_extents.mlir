// RUN: xrelay-opt %s --remarks=relay-merge-composite -p 'relay-merge-composite{chains="acme.found:nn.relu|exp:argwhere"}' 2>&1 | filecheck %s
// RUN: not xrelay-opt %s -p 'relay-merge-composite{table=nobody}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xrelay-opt %s -p 'relay-merge-composite{chains="acme"}' 2>&1 | filecheck %s --check-prefix=WRONG

// UNKNOWN: there is no table of patterns 'nobody'
// WRONG: 'acme' is not a chain of operators

// An op that defines a named extent stays where its name is in scope.
// CHECK: remark: relay-merge-composite: relay.argwhere: relay.argwhere binds the extent k, which is unknown outside of the function
// CHECK-LABEL: @found(
// CHECK-NOT:     relay.fn
func.func @found(%x: tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<k>> {
  %r = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %i = relay.argwhere(%r) {relay.binds = #relay.bounds<k <= 4>} : (tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<k>>
  func.return %i : tensor<?x1xi32, #relay.dims<k>>
}
