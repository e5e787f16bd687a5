// RUN: xrelay-opt %s -p relay-infer-type | xrelay-opt -p relay-infer-type | filecheck %s

!t = tensor<5xf32>
!k = tensor<?x1xi32>
!f = (!t) -> !k
!z = !relay.incomplete

// Each call of a closure defines a new extent, and so does each call of one of two closures.
// CHECK-LABEL: func.func @main
// CHECK:         %g = relay.if %c : tensor<i1> -> (tensor<5xf32>) -> tensor<?x1xi32, #relay.dims<[[J:.*]]>> {
// CHECK-NEXT:      relay.yield %f
// CHECK:         relay.invoke %f(%x) {relay.binds = #relay.bounds<[[A:.*]]>} : {{.*}} #relay.dims<[[A]]>>
// CHECK-NEXT:    relay.invoke %f(%y) {relay.binds = #relay.bounds<[[B:.*]]>} : {{.*}} #relay.dims<[[B]]>>
// CHECK-NEXT:    relay.invoke %g(%x) {relay.binds = #relay.bounds<[[C:.*]]>} : {{.*}} of {{.*}} #relay.dims<[[J]]>>
// CHECK-NEXT:    relay.invoke %g(%y) {relay.binds = #relay.bounds<[[D:.*]]>} : {{.*}} of {{.*}} #relay.dims<[[J]]>>
// CHECK:         func.return {{.*}} #relay.dims<[[A]]>>, {{.*}} #relay.dims<[[B]]>>, {{.*}} #relay.dims<[[C]]>>, {{.*}} #relay.dims<[[D]]>>
func.func @main(%x: !t, %y: !t, %c: tensor<i1>) -> (!z, !z, !z, !z) {
  %f = relay.fn(%p : !t) -> !k {
    %i = relay.argwhere(%p) : (!t) -> !k
    relay.yield %i : !k
  }
  %h = relay.fn(%p : !t) -> !k {
    %n = relay.negative(%p) : (!t) -> !t
    %i = relay.argwhere(%n) : (!t) -> !k
    relay.yield %i : !k
  }
  %g = relay.if %c : tensor<i1> -> !z {
    relay.yield %f : !f
  } else {
    relay.yield %h : !f
  }
  %0 = relay.invoke %f(%x) : (!t) -> !z of !f
  %1 = relay.invoke %f(%y) : (!t) -> !z of !f
  %2 = relay.invoke %g(%x) : (!t) -> !z of !z
  %3 = relay.invoke %g(%y) : (!t) -> !z of !z
  func.return %0, %1, %2, %3 : !z, !z, !z, !z
}

// The names of two functions of any extent may differ.
// CHECK-LABEL: func.func @general
// CHECK:         relay.if %c : tensor<i1> -> (tensor<?xf32, #relay.dims<[[N:.*]]>>) -> tensor<?xf32, #relay.dims<[[N]]>> {
// CHECK:         relay.invoke {{.*}} : (tensor<7xf32>) -> tensor<7xf32> of
func.func @general(%v: tensor<7xf32>, %c: tensor<i1>) -> !z {
  %f = relay.fn(%p : tensor<?xf32, #relay.dims<a>>) -> !z {
    %i = relay.exp(%p) : (tensor<?xf32, #relay.dims<a>>) -> !z
    relay.yield %i : !z
  }
  %h = relay.fn(%p : tensor<?xf32, #relay.dims<b>>) -> !z {
    %i = relay.negative(%p) : (tensor<?xf32, #relay.dims<b>>) -> !z
    relay.yield %i : !z
  }
  %g = relay.if %c : tensor<i1> -> !z {
    relay.yield %f : (tensor<?xf32, #relay.dims<a>>) -> !z
  } else {
    relay.yield %h : (tensor<?xf32, #relay.dims<b>>) -> !z
  }
  %0 = relay.invoke %g(%v) : (tensor<7xf32>) -> !z of !z
  func.return %0 : !z
}

// A call that passes a function with extents of its own has names.
// CHECK-LABEL: func.func @hands_over
// CHECK:         relay.call @count<>(%f, %x)
func.func @hands_over(%x: !t) -> !z {
  %f = relay.fn(%p : !t) -> !k {
    %i = relay.argwhere(%p) : (!t) -> !k
    relay.yield %i : !k
  }
  %0 = func.call @count(%f, %x) : (!f, !t) -> !z
  func.return %0 : !z
}
// CHECK:       func.func private @count(%f: (tensor<5xf32>) -> tensor<?x1xi32, #relay.dims<{{.*}}>>
func.func private @count(%f: !f, %x: !t) -> !z {
  %i = relay.invoke %f(%x) : (!t) -> !k of !f
  %s = relay.ndarray_size(%i) : (!k) -> !z
  func.return %s : !z
}
