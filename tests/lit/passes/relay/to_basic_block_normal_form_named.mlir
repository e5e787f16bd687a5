// RUN: xrelay-opt %s -p relay-to-basic-block-normal-form,relay-check-basic-block-normal-form | filecheck %s

// A requirement that names an extent uses its defining op: %x stays, although only one branch uses its value.
// CHECK-LABEL: func.func @named_outside
// CHECK-NEXT:    %[[X:.*]] = relay.closure_captured(%f)
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.sum(%[[X]])
// CHECK:         relay.require(
func.func @named_outside(%f: !relay.closure, %c: tensor<i1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
      : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %a = relay.sum(%x) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    %b = relay.max(%y) : (tensor<4xf32>) -> tensor<f32>
    relay.yield %b : tensor<f32>
  }
  %s = relay.add(%y, %r) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = relay.require(%s) {demands = #relay.requirements<d >= 1 "C2 rows">, relay.requires = #relay.requirements<d >= 1 "C2 rows">}
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// If only one branch has the requirement, the op that defines the extent moves there with it, used or not.
// CHECK-LABEL: func.func @named_in_a_branch
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      relay.closure_captured(%f)
// CHECK-NEXT:      relay.require(%y)
func.func @named_in_a_branch(%f: !relay.closure, %c: tensor<i1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
      : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
  %t = relay.require(%y) {demands = #relay.requirements<d >= 1 "C2 rows">, relay.requires = #relay.requirements<d >= 1 "C2 rows">}
      : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %t : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A requirement on an extent that must not be computed needlessly runs on demand, as the extent's op does.
// CHECK-LABEL: func.func @named_in_branches
// CHECK-NEXT:    %[[S:.*]] = relay.if %c
// CHECK-NEXT:      relay.closure_captured(%f)
// CHECK-NEXT:      %[[T:.*]] = relay.require(%y)
// CHECK:           relay.tuple(%[[T]], %{{.*}}, %[[T]])
// CHECK:         relay.if %d
// CHECK-NEXT:      %[[X:.*]] = relay.closure_captured(%f)
// CHECK-NEXT:      relay.sum(%[[X]])
// CHECK-NEXT:      %[[K:.*]] = relay.tuple_get_item(%[[S]]) {index = 1}
// CHECK-NEXT:      relay.if %[[K]]
// CHECK:           } else {
// CHECK-NEXT:        relay.require(%y)
func.func @named_in_branches(%f: !relay.closure, %c: tensor<i1>, %d: tensor<i1>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
      : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
  %t = relay.require(%y) {demands = #relay.requirements<d >= 1 "C2 rows">, relay.requires = #relay.requirements<d >= 1 "C2 rows">}
      : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.if %c : tensor<i1> -> tensor<4xf32> {
    relay.yield %t : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<4xf32> {
    %s = relay.sum(%x) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    %u = relay.add(%t, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %u : tensor<4xf32>
  } else {
    relay.yield %y : tensor<4xf32>
  }
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A choice between values does not determine extents: zeros may replace the list, but a user of %e needs the op itself.
// CHECK-LABEL: func.func @extents
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[E:.*]] = relay.extents(%n)
// CHECK-NEXT:      relay.yield %[[E]]
// CHECK:         relay.if %d
// CHECK-NEXT:      %[[E:.*]] = relay.extents(%n)
// CHECK-NEXT:      relay.dyn.full(%v, %[[E]])
func.func @extents(%c: tensor<i1>, %d: tensor<i1>, %n: tensor<1xi64>, %y: tensor<1xi64>, %v: tensor<f32>) -> (tensor<1xi64>, tensor<f32>) {
  %e = relay.extents(%n) {relay.binds = #relay.bounds<e>} : (tensor<1xi64>) -> tensor<1xi64>
  %a = relay.if %c : tensor<i1> -> tensor<1xi64> {
    relay.yield %e : tensor<1xi64>
  } else {
    relay.yield %y : tensor<1xi64>
  }
  %b = relay.if %d : tensor<i1> -> tensor<f32> {
    %w = relay.dyn.full(%v, %e) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
    %s = relay.sum(%w) : (tensor<?xf32, #relay.dims<e>>) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %v : tensor<f32>
  }
  func.return %a, %b : tensor<1xi64>, tensor<f32>
}

// A call with several results, with zeros as placeholders, runs only in the branches that need one of them.
// CHECK-LABEL: func.func @several_results
// CHECK-NOT:     relay.call
// CHECK:         relay.if %c
// CHECK-NEXT:      relay.call @pair
// CHECK:         } else {
// CHECK-NOT:       relay.call
// CHECK:         relay.if %d
// CHECK-NEXT:      relay.call @pair
// CHECK:         } else {
// CHECK-NOT:       relay.call
// CHECK:         func.return
func.func @several_results(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<4xf32>) -> (tensor<f32>, tensor<i32>) {
  %p, %q = relay.call @pair<n = 4, k = j>(%x) {relay.binds = #relay.bounds<j>}
      : (tensor<4xf32>) -> (tensor<?x1xi32, #relay.dims<j>>, tensor<4xf32>)
  %zero = relay.constant dense<0.0> : tensor<f32>
  %none = relay.constant dense<0> : tensor<i32>
  %a = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.sum(%q) : (tensor<4xf32>) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %zero : tensor<f32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<i32> {
    %s = relay.sum(%p) : (tensor<?x1xi32, #relay.dims<j>>) -> tensor<i32>
    relay.yield %s : tensor<i32>
  } else {
    relay.yield %none : tensor<i32>
  }
  func.return %a, %b : tensor<f32>, tensor<i32>
}
func.func private @pair(%x: tensor<?xf32, #relay.dims<n>>) -> (tensor<?x1xi32, #relay.dims<k>>, tensor<?xf32, #relay.dims<n>>) {
  %y = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= n>} : (tensor<?xf32, #relay.dims<n>>) -> tensor<?x1xi32, #relay.dims<k>>
  func.return %y, %x : tensor<?x1xi32, #relay.dims<k>>, tensor<?xf32, #relay.dims<n>>
}

// Another op defines an extent of that name in a branch: users there do not need the outer one.
// CHECK-LABEL: func.func @same_name_elsewhere
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[X:.*]] = relay.closure_captured(%f)
// CHECK-NEXT:      relay.sum(%[[X]])
// CHECK:         relay.if %c
// CHECK-NEXT:      relay.closure_captured(%f)
func.func @same_name_elsewhere(%f: !relay.closure, %c: tensor<i1>, %z: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %x = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
        : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
    %a = relay.sum(%x) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  %s = relay.if %c : tensor<i1> -> tensor<f32> {
    %y = relay.closure_captured(%f) {index = 0, of = tensor<?xf32>, relay.binds = #relay.bounds<d>}
        : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
    %b = relay.max(%y) : (tensor<?xf32, #relay.dims<d>>) -> tensor<f32>
    relay.yield %b : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  func.return %r, %s : tensor<f32>, tensor<f32>
}

// Requirements run only if dataflow form needs them, each time, with the light ops that only they use; heavy ops run
// once.
// CHECK-LABEL: func.func @demands
// CHECK-NEXT:    %[[H:.*]] = relay.cumsum(%x)
// CHECK-NEXT:    relay.if %c
// CHECK-NEXT:      %[[E:.*]] = relay.exp(%[[H]])
// CHECK-NEXT:      %[[S:.*]] = relay.add(%[[E]], %y) {relay.requires
// CHECK-NEXT:      relay.sum(%[[S]])
// CHECK:         relay.if %c
// CHECK-NEXT:      %[[F:.*]] = relay.exp(%[[H]])
// CHECK-NEXT:      %[[T:.*]] = relay.add(%[[F]], %y) {relay.requires
// CHECK-NEXT:      relay.max(%[[T]])
func.func @demands(%c: tensor<i1>, %z: tensor<f32>, %x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> (tensor<f32>, tensor<f32>) {
  %h = relay.cumsum(%x) {axis = 0} : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %e = relay.exp(%h) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %w = relay.add(%e, %y) {relay.requires = #relay.requirements<broadcastable(n, m) "C2 extents">} : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<broadcast(n, m)>>
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %a = relay.sum(%w) : (tensor<?xf32, #relay.dims<broadcast(n, m)>>) -> tensor<f32>
    relay.yield %a : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  %s = relay.if %c : tensor<i1> -> tensor<f32> {
    %b = relay.max(%w) : (tensor<?xf32, #relay.dims<broadcast(n, m)>>) -> tensor<f32>
    relay.yield %b : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  func.return %r, %s : tensor<f32>, tensor<f32>
}

// A result of branches with two extents keeps its name if they also determine %e, which the second choice needs.
// CHECK-LABEL: func.func @two_extents
// CHECK-NEXT:    %[[P:.*]] = relay.if %c : tensor<i1> -> tuple<tensor<?xf32, #relay.dims<d>>, tensor<i1>, tensor<4xf32>> attributes {relay.binds = #relay.bounds<d>} {
// CHECK:         %r = relay.tuple_get_item(%[[P]]) {index = 0} : {{.*}} -> tensor<?xf32, #relay.dims<d>>
// CHECK:         func.return %r, %{{.*}} : tensor<?xf32, #relay.dims<d>>, tensor<f32>
func.func @two_extents(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<?xf32, #relay.dims<m>>)
    -> (tensor<?xf32, #relay.dims<d>>, tensor<f32>) {
  %e = func.call @costly(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<d>> attributes {relay.binds = #relay.bounds<d>} {
    %s = relay.strided_slice(%e) {begin = [4], end = [4]} : (tensor<4xf32>) -> tensor<0xf32>
    relay.yield %s : tensor<0xf32>
  } else {
    relay.yield %y : tensor<?xf32, #relay.dims<m>>
  }
  %z = relay.constant dense<1.0> : tensor<f32>
  %t = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.sum(%e) : (tensor<4xf32>) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %z : tensor<f32>
  }
  func.return %r, %t : tensor<?xf32, #relay.dims<d>>, tensor<f32>
}

func.func private @costly(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = func.call @costly(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
