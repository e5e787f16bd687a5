// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// Elements of a tensor become extents; the function also returns the sizes that its inputs do not determine.
// CHECK-LABEL: func.func @extents(%s: memref<2xi64>, %x: memref<?xf32> {loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"})
// CHECK-SAME:     -> (memref<?xf32> {loop.dims = #relay.dims<n + p>, loop.place = 0 : i64}, index)
// CHECK:         %[[A:.*]] = memref.load %s[%{{.*}}] : memref<2xi64>
// CHECK-NEXT:    %p = arith.index_cast %[[A]] : i64 to index
// CHECK:         cf.assert %{{.*}}, "shape mismatch: [relay.extents C3] element 0 is {lhs}" {xrelay.sources = ["{{.*}}dynamic_buffers.mlir:17:3"]}
// CHECK:         cf.assert %{{.*}}, "shape mismatch: [relay.extents C3] 140737488355327 >= element 0 of relay.extents"
// CHECK:         %q = arith.index_cast
// CHECK:         cf.assert
// CHECK:         %[[SUM:.*]] = arith.addi %n, %p : index
// CHECK:         %y = memref.alloc(%[[SUM]]) : memref<?xf32>
// CHECK-NEXT:    func.call @fill(%x, %y, %n, %[[SUM]])
// CHECK-NEXT:    func.return %y, %[[SUM]]
func.func @extents(%s: tensor<2xi64>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + p>> {
  %v = relay.extents(%s) {relay.binds = #relay.bounds<p, q>} : (tensor<2xi64>) -> tensor<2xi64>
  %y = func.call @fill(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + p>>
  func.return %y : tensor<?xf32, #relay.dims<n + p>>
}

// The first elements along an axis are a view if all extents before the axis are 1; otherwise they are copied.
// CHECK-LABEL: func.func @cuts
// CHECK:         %[[K:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         cf.assert %{{.*}}, "shape mismatch: [relay.cut C4] 8 >= the length of a result"
// CHECK:         %a = memref.reinterpret_cast %x to offset: [0], sizes: [1, %[[K]], 3], strides: [%{{.*}}, 3, 1] : memref<1x8x3xf32> to memref<1x?x3xf32>
// CHECK:         %[[L:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         %b = memref.alloc(%[[K]], %[[L]]) : memref<1x?x?xf32>
// CHECK-NEXT:    func.call @cut(%a, %b, %[[K]], %[[K]], %[[L]])
// An input is copied before it is transferred to another owner.
// CHECK-NEXT:    %[[OWN:.*]] = memref.alloc(%[[K]]) : memref<1x?x3xf32>
// CHECK-NEXT:    func.call @copy(%a, %[[OWN]], %[[K]])
// CHECK-NEXT:    func.return %[[OWN]], %[[K]], %b, %[[K]], %[[L]]
func.func @cuts(%x: tensor<1x8x3xf32>, %n: tensor<i64>) -> (tensor<1x?x3xf32, #relay.dims<k>>, tensor<1x?x?xf32, #relay.dims<k, l>>) {
  %a = relay.cut(%x, %n) {axis = 1, relay.binds = #relay.bounds<k <= 8>} : (tensor<1x8x3xf32>, tensor<i64>) -> tensor<1x?x3xf32, #relay.dims<k>>
  %b = relay.cut(%a, %n) {axis = 2, relay.binds = #relay.bounds<l <= 3>} : (tensor<1x?x3xf32, #relay.dims<k>>, tensor<i64>) -> tensor<1x?x?xf32, #relay.dims<k, l>>
  func.return %a, %b : tensor<1x?x3xf32, #relay.dims<k>>, tensor<1x?x?xf32, #relay.dims<k, l>>
}

// If the extents of a result are known only in the branches, each branch returns a buffer.
// CHECK-LABEL: func.func @branches
// CHECK:         %[[Y:.*]], %k = scf.if %{{.*}} -> (memref<?xf32>, index) {
// CHECK-NEXT:      %a = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:      func.call @twice(%x, %a
// CHECK-NEXT:      scf.yield %a, %{{.*}} : memref<?xf32>, index
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[B:.*]] = memref.alloc(%n) : memref<?xf32>
// CHECK-NEXT:      func.call @copy_1(%x, %[[B]], %n)
// CHECK-NEXT:      scf.yield %[[B]], %n : memref<?xf32>, index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[Y]], %k
func.func @branches(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<k>> {
  %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<k>> attributes {relay.binds = #relay.bounds<k>} {
    %a = func.call @twice(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<2 * n>>
    relay.yield %a : tensor<?xf32, #relay.dims<2 * n>>
  } else {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  }
  func.return %r : tensor<?xf32, #relay.dims<k>>
}

// A carried value of varying extent has another buffer in each iteration; a full stack is reallocated.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[FIRST:.*]] = memref.alloc(%[[C4:.*]]) : memref<?xf32>
// CHECK-NEXT:    %[[CAST:.*]] = "memref.cast"(%x) : (memref<4xf32>) -> memref<?xf32>
// CHECK-NEXT:    func.call @copy_1(%[[CAST]], %[[FIRST]], %[[C4]])
// CHECK-NEXT:    %[[ROOM:.*]] = arith.constant 8 : index
// CHECK-NEXT:    %[[ROWS:.*]] = memref.alloc(%[[ROOM]]) : memref<?xi64>
// CHECK-NEXT:    %[[END:.*]], %[[LAST:.*]], %[[STACK:.*]], %[[SIZE:.*]], %{{.*}} = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[FIRST]], %{{.*}} = %[[ROWS]], %{{.*}} = %[[C4]], %{{.*}} = %[[ROOM]]) : (index, memref<?xf32>, memref<?xi64>, index, index) -> (index, memref<?xf32>, memref<?xi64>, index, index) {
// CHECK:         } do {
// CHECK:         ^{{.*}}(%[[N:.*]]: index, %s: memref<?xf32>, %[[OLD:.*]]: memref<?xi64>, %m: index, %[[HAS:.*]]: index):
// CHECK-NEXT:      %[[TWICE:.*]] = arith.muli %m, %{{.*}} : index
// CHECK:           func.call @twice_m(%s, %[[NEXT:.*]], %m, %[[TWICE]])
// CHECK-NEXT:      %[[FULL:.*]] = arith.cmpi eq, %[[N]], %[[HAS]] : index
// CHECK-NEXT:      %[[NEW:.*]], %[[ROOM2:.*]] = scf.if %[[FULL]] -> (memref<?xi64>, index) {
// CHECK:             memref.dealloc %[[OLD]] : memref<?xi64>
// CHECK:           memref.store %{{.*}}, %[[NEW]][%[[N]]] : memref<?xi64>
// CHECK:           scf.yield %{{.*}}, %[[NEXT]], %[[NEW]], %[[TWICE]], %[[ROOM2]]
// CHECK:         %[[CUT:.*]] = memref.reinterpret_cast %[[STACK]] to offset: [0], sizes: [%[[END]]], strides: [1]
// CHECK-NEXT:    func.return %[[LAST]], %[[SIZE]], %[[CUT]], %[[END]]
func.func @loop(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<?xf32, #relay.dims<l>>, tensor<?xi64, #relay.dims<i>>) {
  %r = relay.loop(%j, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<?xf32, #relay.dims<l>>, tensor<?xi64, #relay.dims<i>>> attributes {relay.binds = #relay.bounds<l, i>} {
    %a = func.call @twice_m(%s) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<2 * m>>
    %t = relay.tuple(%a, %j) : (tensor<?xf32, #relay.dims<2 * m>>, tensor<i64>) -> tuple<tensor<?xf32, #relay.dims<2 * m>>, tensor<i64>>
    relay.yield %t : tuple<tensor<?xf32, #relay.dims<2 * m>>, tensor<i64>>
  }
  %p = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<?xf32, #relay.dims<l>>, tensor<?xi64, #relay.dims<i>>>) -> tensor<?xf32, #relay.dims<l>>
  %q = relay.tuple_get_item(%r) {index = 1} : (tuple<tensor<?xf32, #relay.dims<l>>, tensor<?xi64, #relay.dims<i>>>) -> tensor<?xi64, #relay.dims<i>>
  func.return %p, %q : tensor<?xf32, #relay.dims<l>>, tensor<?xi64, #relay.dims<i>>
}

func.func private @fill(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + p>> attributes {relay.primitive} {
  %y = topi.compute "fill" [%i : n + p] : tensor<?xf32, #relay.dims<n + p>> {
    %0 = arith.constant 1.0 : f32
    topi.yield %0 : f32
  }
  func.return %y : tensor<?xf32, #relay.dims<n + p>>
}
func.func private @twice(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<2 * n>> attributes {relay.primitive} {
  %y = topi.compute "twice" [%i : 2 * n] : tensor<?xf32, #relay.dims<2 * n>> {
    %0 = topi.read %x[%i floordiv 2] : tensor<?xf32, #relay.dims<n>>
    topi.yield %0 : f32
  }
  func.return %y : tensor<?xf32, #relay.dims<2 * n>>
}
func.func private @twice_m(%x: tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<2 * m>> attributes {relay.primitive} {
  %y = topi.compute "twice" [%i : 2 * m] : tensor<?xf32, #relay.dims<2 * m>> {
    %0 = topi.read %x[%i floordiv 2] : tensor<?xf32, #relay.dims<m>>
    topi.yield %0 : f32
  }
  func.return %y : tensor<?xf32, #relay.dims<2 * m>>
}

// A kernel copies a row with dynamic strides as one axis to its position in the stack.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[COUNT:.*]] = arith.muli %m, %n
// CHECK:           %[[PLACE:.*]] = arith.muli %{{.*}}, %[[COUNT]] : index
// CHECK-NEXT:      %[[FLAT:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[COUNT]]], strides: [1]
// CHECK-NEXT:      %[[ROW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%[[PLACE]]], sizes: [%[[COUNT]]], strides: [1] : memref<3x?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
// CHECK-NEXT:      func.call @[[COPY:.*]](%[[FLAT]], %[[ROW]], %[[COUNT]])
func.func @rows(%n: tensor<i64>, %x: tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<3x?x?xf32, #relay.dims<n, m>> {
  %r = relay.loop(%j, %p = %x : tensor<?x?xf32, #relay.dims<n, m>>) to %n : tensor<i64> -> tuple<tensor<?x?xf32, #relay.dims<n, m>>, tensor<3x?x?xf32, #relay.dims<n, m>>> {
    %t = relay.tuple(%p, %p) : (tensor<?x?xf32, #relay.dims<n, m>>, tensor<?x?xf32, #relay.dims<n, m>>) -> tuple<tensor<?x?xf32, #relay.dims<n, m>>, tensor<?x?xf32, #relay.dims<n, m>>>
    relay.yield %t : tuple<tensor<?x?xf32, #relay.dims<n, m>>, tensor<?x?xf32, #relay.dims<n, m>>>
  }
  %s = relay.tuple_get_item(%r) {index = 1} : (tuple<tensor<?x?xf32, #relay.dims<n, m>>, tensor<3x?x?xf32, #relay.dims<n, m>>>) -> tensor<3x?x?xf32, #relay.dims<n, m>>
  func.return %s : tensor<3x?x?xf32, #relay.dims<n, m>>
}
