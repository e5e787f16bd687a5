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

// A call that makes extents which its results do not tell goes: what does nothing takes its results, and the argument.

// CHECK-LABEL: func.func @untold
// CHECK:         %s = relay.add
// CHECK-NOT:     @found
// CHECK:         %[[R:.*]] = relay.concatenate
// CHECK:         relay.call @untold_result<d0 = {{.*}} + {{.*}}, d1 = broadcast(m, n)>(%[[R]], %s)
func.func @untold(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %s = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  %r = relay.call @found(%s, %x, %y) : (!relay.incomplete, tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

func.func private @found(%a: !relay.incomplete, %b: !relay.incomplete, %c: !relay.incomplete) -> !relay.incomplete {
  %0 = relay.argwhere(%b) : (!relay.incomplete) -> !relay.incomplete
  %1 = relay.argwhere(%c) : (!relay.incomplete) -> !relay.incomplete
  %2 = relay.tuple(%0, %1) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %3 = relay.concatenate(%2) : (!relay.incomplete) -> !relay.incomplete
  func.return %3 : !relay.incomplete
}

// What a closure captures is computed where it is made, so a call of it stays as well.

// CHECK-LABEL: func.func @captured
// CHECK:         relay.divide
// CHECK:         relay.invoke
// CHECK:         relay.divide
// CHECK-NOT:     relay.invoke
// CHECK:         return
func.func @captured(%c: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %f = relay.fn(%a : tensor<i32>) -> tensor<i32> {
    %i = relay.if %c : tensor<i1> -> tensor<i32> {
      relay.yield %q : tensor<i32>
    } else {
      relay.yield %a : tensor<i32>
    }
    relay.yield %i : tensor<i32>
  }
  %r = relay.invoke %f(%x) : (tensor<i32>) -> tensor<i32>
  %p = relay.divide(%y, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %g = relay.fn(%a : tensor<i32>) -> tensor<i32> {
    %s = relay.add(%a, %p) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    relay.yield %s : tensor<i32>
  }
  %t = relay.invoke %g(%x) : (tensor<i32>) -> tensor<i32>
  func.return %r, %t : tensor<i32>, tensor<i32>
}

func.func private @negated(%a: tensor<?xf32, #relay.dims<k>>, %b: tensor<?xf32, #relay.dims<l>>) -> tensor<?xf32, #relay.dims<l>> {
  %0 = relay.negative(%b) : (tensor<?xf32, #relay.dims<l>>) -> tensor<?xf32, #relay.dims<l>>
  func.return %0 : tensor<?xf32, #relay.dims<l>>
}

// CHECK-LABEL: func.func private @untold_result(
// CHECK-NEXT:    func.return %0
