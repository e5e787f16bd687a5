// RUN: xrelay-opt %s -p relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p 'relay-dead-code-elimination{ignore-impurity=true}' | filecheck %s --check-prefix IGNORE

// An unused chain, branch and call are removed; so is the function that only they called.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%x)
// CHECK-NEXT:    func.call @outside(%x)
// CHECK-NEXT:    func.return %[[R]]
// CHECK-NOT:   @uncalled
// IGNORE-LABEL: func.func @main
// IGNORE-NEXT:    relay.nn.relu(%x)
// IGNORE-NEXT:    func.return
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.sigmoid(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %i = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %a : tensor<4xf32>
  }
  %d = func.call @uncalled(%i) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %o = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK: func.func private @outside
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

func.func private @uncalled(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// Dead ops inside a branch are removed too.
// CHECK-LABEL: func.func @inside
// CHECK:         relay.if
// CHECK-NEXT:      relay.yield %x
func.func @inside(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %i = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %i : tensor<4xf32>
}

// A branch that calls a function of the module is as pure as the function; a call of an unknown function is not pure.
// CHECK-LABEL: func.func @calls_in_branches
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      func.call @does_unknown
// CHECK:         func.return
// CHECK-NOT:   @does_nothing
func.func @calls_in_branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %b = func.call @does_nothing(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %b : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  %d = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %e = func.call @does_unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %e : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %x : tensor<4xf32>
}

func.func private @does_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

func.func private @does_unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @does_what(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

func.func private @does_what(tensor<4xf32>) -> tensor<4xf32>

// Calls of functions with named dimensions are treated alike.
// CHECK-LABEL: func.func @named_calls
// CHECK-NEXT:    %[[B:.*]] = relay.call @named<n = 4>(%x)
// CHECK-NEXT:    func.return %[[B]]
// CHECK:       func.func private @named(
// CHECK-NOT:   @named_in_vain(
func.func @named_calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.call @named_in_vain<n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.call @named<n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @named(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
func.func private @named_in_vain(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}

// A user of an extent's name needs its defining op, even if its value is unused; the op of an unused name is removed.
// CHECK-LABEL: func.func @names
// CHECK-NEXT:    relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>}
// CHECK-NEXT:    relay.require(%y)
// CHECK-NEXT:    func.return
func.func @names(%x: tensor<4xf32>, %y: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %a = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>} : (tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<k>>
  %b = relay.argwhere(%x) {relay.binds = #relay.bounds<j <= 4>} : (tensor<4xf32>) -> tensor<?x1xi32, #relay.dims<j>>
  %z = relay.require(%y) {demands = #relay.requirements<n == k "C1 rows">, relay.requires = #relay.requirements<n == k "C1 rows">} : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %z : tensor<?xf32, #relay.dims<n>>
}
