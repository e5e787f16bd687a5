// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// A value is copied into a list; the extents of an element that is taken out become sizes.
// CHECK-LABEL: func.func @main(%s: !loop.list<f32> {loop.container = !relay.sequence<tensor<?x2xf32>>}, %x: memref<3x2xf32>, %at: memref<i64>)
// CHECK-SAME: -> (memref<?x2xf32> {loop.dims = #relay.dims<d>, loop.place = 0 : i64}, index, !loop.list<f32> {
func.func @main(%s: !relay.sequence<tensor<?x2xf32>>, %x: tensor<3x2xf32>, %at: tensor<i64>)
    -> (tensor<?x2xf32, #relay.dims<d>>, !relay.sequence<tensor<?x2xf32>>) {
  // CHECK: %0 = loop.list_length %s
  // CHECK: %1 = loop.list_insert %x[] in %s at %0 : memref<3x2xf32> in !loop.list<f32>
  %t = relay.sequence_insert(%s, %x) : (!relay.sequence<tensor<?x2xf32>>, tensor<3x2xf32>) -> !relay.sequence<tensor<?x2xf32>>
  // CHECK: cf.assert {{.*}}, "relay.sequence_at: position {lhs} is out of range for a sequence of {rhs} values"
  // CHECK: %d, {{.*}} = loop.list_extents %1 at [[AT:%.*]] : !loop.list<f32> -> index, index
  // CHECK: %v = memref.alloc(%d) : memref<?x2xf32>
  // CHECK: loop.list_read %1 at [[AT]] into %v
  %v = relay.sequence_at(%t, %at) {relay.binds = #relay.bounds<d>} : (!relay.sequence<tensor<?x2xf32>>, tensor<i64>) -> tensor<?x2xf32, #relay.dims<d>>
  // CHECK: func.return %v, %d, %1
  func.return %v, %t : tensor<?x2xf32, #relay.dims<d>>, !relay.sequence<tensor<?x2xf32>>
}

// An optional is a list of at most one value, and branches yield lists.
// CHECK-LABEL: @optional
func.func @optional(%c: tensor<i1>, %x: tensor<4xf32>) -> !relay.optional<!relay.sequence<tensor<4xf32>>> {
  // CHECK: scf.if {{.*}} -> (!loop.list<!loop.list<f32>>)
  %r = relay.if %c : tensor<i1> -> !relay.optional<!relay.sequence<tensor<4xf32>>> {
    %s = relay.sequence_construct(%x) : (tensor<4xf32>) -> !relay.sequence<tensor<4xf32>>
    // CHECK: loop.list_insert {{.*}}[] in {{.*}} : !loop.list<f32> in !loop.list<!loop.list<f32>>
    %o = relay.optional_construct(%s) : (!relay.sequence<tensor<4xf32>>) -> !relay.optional<!relay.sequence<tensor<4xf32>>>
    relay.yield %o : !relay.optional<!relay.sequence<tensor<4xf32>>>
  } else {
    %n = relay.optional_construct() {of = !relay.sequence<tensor<4xf32>>} : () -> !relay.optional<!relay.sequence<tensor<4xf32>>>
    relay.yield %n : !relay.optional<!relay.sequence<tensor<4xf32>>>
  }
  func.return %r : !relay.optional<!relay.sequence<tensor<4xf32>>>
}

// CHECK-LABEL: @parts
func.func @parts(%x: tensor<6x2xf32>, %n: tensor<i64>) -> tensor<?x2xf32, #relay.dims<d>> {
  // CHECK: scf.for {{.*}} -> (!loop.list<f32>, index)
  // CHECK: loop.list_insert_part %x[] from {{.*}} {axis = 0 : i64} : memref<6x2xf32> in !loop.list<f32>
  %s = relay.split_to_sequence(%x, %n) : (tensor<6x2xf32>, tensor<i64>) -> !relay.sequence<tensor<?x2xf32>>
  // CHECK: %y = memref.alloc([[D:%.*]]) : memref<?x2xf32>
  // CHECK: loop.list_read_part {{.*}} into %y{{\[}}[[D]]{{\]}} from {{.*}} {axis = 0 : i64}
  %y = relay.concat_from_sequence(%s) {relay.binds = #relay.bounds<d>} : (!relay.sequence<tensor<?x2xf32>>) -> tensor<?x2xf32, #relay.dims<d>>
  func.return %y : tensor<?x2xf32, #relay.dims<d>>
}
