// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p convert-topi-to-loop,convert-loop-to-scf | filecheck %s --check-prefix=SCF

// A closure is a list of its function's number and its captured values.
// CHECK-LABEL: func.func private @f(%x: memref<4xf32>, %g: !loop.list<none> {loop.container = !relay.closure}
func.func private @f(%x: tensor<4xf32>, %g: !relay.closure) -> (!relay.closure, tensor<i64>, tensor<?xf32, #relay.dims<d>>) {
  // CHECK: memref.store %{{.*}}, %[[N:.*]][] : memref<i64>
  // CHECK: %[[E:.*]] = loop.list_empty : !loop.list<none>
  // CHECK: loop.list_insert %[[N]][] in %[[E]] at {{.*}} : memref<i64> in !loop.list<none>
  // CHECK: loop.list_insert %x[] in {{.*}} : memref<4xf32> in !loop.list<none>
  // CHECK: loop.list_insert %g[] in {{.*}} : !loop.list<none> in !loop.list<none>
  // SCF:   %[[ITEM:.*]] = func.call @xrelay_list_item
  // SCF:   func.call @xrelay_list_insert(%{{.*}}, %{{.*}}, %[[ITEM]])
  // SCF:   %[[ITEM:.*]] = func.call @xrelay_list_item
  // SCF:   func.call @xrelay_list_insert(%{{.*}}, %{{.*}}, %[[ITEM]])
  // SCF:   func.call @xrelay_list_retain(%g)
  // SCF:   func.call @xrelay_list_insert(%{{.*}}, %{{.*}}, %g)
  %h = relay.closure_construct(%x, %g) {number = 3} : (tensor<4xf32>, !relay.closure) -> !relay.closure
  // CHECK: loop.list_read %g at {{.*}} into %{{.*}} : !loop.list<none> into memref<i64>
  %n = relay.closure_number(%g) : (!relay.closure) -> tensor<i64>
  // CHECK: %[[INNER:.*]] = loop.list_at %g at {{.*}} : !loop.list<none> -> !loop.list<none>
  %i = relay.closure_captured(%g) {index = 0, of = !relay.closure} : (!relay.closure) -> !relay.closure
  // CHECK: %[[D:.*]] = loop.list_extents %[[INNER]] at %[[AT:.*]] : !loop.list<none> -> index
  // CHECK: loop.list_read %[[INNER]] at %[[AT]] into
  %y = relay.closure_captured(%i) {index = 1, of = tensor<?xf32>, relay.binds = #relay.bounds<d>} : (!relay.closure) -> tensor<?xf32, #relay.dims<d>>
  func.return %h, %n, %y : !relay.closure, tensor<i64>, tensor<?xf32, #relay.dims<d>>
}
