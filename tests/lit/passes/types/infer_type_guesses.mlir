// A branch whose type a loop tells is not told another by the branch beside it.
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
