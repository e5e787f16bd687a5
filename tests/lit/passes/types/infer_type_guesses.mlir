// A branch whose type depends on a loop does not take another type from its sibling.
// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK: relay.loop({{.*}} -> tuple<tensor<?x1xf32, #relay.dims<m>>>
// CHECK: relay.tuple_get_item(%l) {index = 0} : {{.*}} -> tensor<?x1xf32, #relay.dims<m>>
// CHECK: relay.if %c : tensor<i1> -> tensor<?x?xf32, #relay.dims<d0, d1>> attributes {relay.binds = #relay.bounds<d0{{.*}}, d1
func.func @main(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<?x1xf32, #relay.dims<m>>) -> !relay.incomplete {
  %l = relay.loop(%i, %p : !relay.incomplete = %x : tensor<?x1xf32, #relay.dims<m>>) to %n : tensor<i64>
      -> !relay.incomplete {
    %s = relay.add(%p, %p) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    %t = relay.tuple(%s) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %t : !relay.incomplete
  }
  %a = relay.tuple_get_item(%l) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    %u = relay.transpose(%x) : (tensor<?x1xf32, #relay.dims<m>>) -> !relay.incomplete
    relay.yield %u : !relay.incomplete
  } else {
    relay.yield %a : !relay.incomplete
  }
  func.return %r : !relay.incomplete
}

// A call requires less of its argument than the loop's initial value provides, which the loop before it stacks.
// CHECK-LABEL: @call_of_carried(
func.func @call_of_carried(%x: tensor<1xf32>, %v: tensor<?xf32, #relay.dims<m>>, %n: tensor<i64>) -> !relay.incomplete {
  %l = relay.loop(%i, %a : !relay.incomplete = %x : tensor<1xf32>) to %n : tensor<i64> -> !relay.incomplete {
    %y = relay.tuple(%a, %a) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  %s = relay.tuple_get_item(%l) {index = 1} : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.loop(%j, %b = %s : tensor<?x1xf32, #relay.dims<iterations>>)
  %k = relay.loop(%j, %b : !relay.incomplete = %s : !relay.incomplete) to %n : tensor<i64> -> !relay.incomplete {
    // CHECK: relay.call @plane<rows = iterations, columns = 1>(%b)
    %c = relay.call @plane(%b) : (!relay.incomplete) -> !relay.incomplete
    // CHECK: relay.add(%b, %v) : {{.*}} -> tensor<?x?xf32, #relay.dims<iterations, m>>
    %d = relay.add(%b, %v) : (!relay.incomplete, tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
    %z = relay.tuple(%c) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %z : !relay.incomplete
  }
  func.return %k : !relay.incomplete
}

func.func private @plane(%q: tensor<?x?xf32, #relay.dims<rows, columns>>) -> tensor<?x?xf32, #relay.dims<rows, columns>> {
  func.return %q : tensor<?x?xf32, #relay.dims<rows, columns>>
}
