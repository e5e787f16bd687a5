// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s

// A shape that is taken apart and put together is known from the program's arithmetic.
// CHECK-LABEL: @merged_axes(
func.func @merged_axes(%x: tensor<?x?x8xf32, #relay.dims<n, s>>) -> !relay.incomplete {
  %shape = relay.shape_of(%x) : (tensor<?x?x8xf32, #relay.dims<n, s>>) -> tensor<3xi64>
  %parts = relay.split(%shape) {indices_or_sections = 3 : i64} : (tensor<3xi64>) -> !relay.incomplete
  %n = relay.tuple_get_item(%parts) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %s = relay.tuple_get_item(%parts) {index = 1} : (!relay.incomplete) -> !relay.incomplete
  %c = relay.tuple_get_item(%parts) {index = 2} : (!relay.incomplete) -> !relay.incomplete
  %m = relay.multiply(%s, %c) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %t = relay.tuple(%n, %m) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %new = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.dyn.reshape({{.*}} -> tensor<?x?xf32, #relay.dims<n, 8 * s>>
  %y = relay.dyn.reshape(%x, %new) : (tensor<?x?x8xf32, #relay.dims<n, s>>, !relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// A value that could be a special code of reshape is excluded by a requirement.
// CHECK-LABEL: @demands(
func.func @demands(%x: tensor<?x6xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete {
  %c = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<c>>) -> tensor<1xi64>
  %rest = relay.constant dense<[-1]> : tensor<1xi64>
  %t = relay.tuple(%c, %rest) : (tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  %new = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.dyn.reshape({{.*}}c >= 1 "C2 an extent that is not copied"{{.*}}mod c == 0 "C3
  %r = relay.dyn.reshape(%x, %new) : (tensor<?x6xf32, #relay.dims<n>>, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// Data-dependent extents are defined by the op.
// CHECK-LABEL: @unknown(
func.func @unknown(%x: tensor<4xf32>, %s: tensor<2xi64>) -> !relay.incomplete {
  // CHECK: relay.dyn.reshape(%x, %s) {relay.binds = #relay.bounds<e, e_1>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<e, e_1>>
  %r = relay.dyn.reshape(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// A shape has no -1, so the replacement for -1 is not chosen: PyTorch's form of Expand.
// CHECK-LABEL: @expanded(
func.func @expanded(%x: tensor<?x1xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %n = relay.shape_of(%x) : (tensor<?x1xf32, #relay.dims<n>>) -> tensor<2xi64>
  %m = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<m>>) -> tensor<1xi64>
  %copies = relay.constant dense<-1> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %t = relay.tuple(%m, %n) : (tensor<1xi64>, tensor<2xi64>) -> !relay.incomplete
  %given = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
  %is = relay.equal(%given, %copies) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %shape = relay.where(%is, %one, %given) : (!relay.incomplete, tensor<i64>, !relay.incomplete) -> !relay.incomplete
  // CHECK: relay.dyn.broadcast_to({{.*}}) : (tensor<?x1xf32, #relay.dims<n>>, tensor<3xi64>) -> tensor<?x?x1xf32, #relay.dims<m, n>>
  %r = relay.dyn.broadcast_to(%x, %shape) : (tensor<?x1xf32, #relay.dims<n>>, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// A dynamic element is a name, which the type has only if it determines an extent.
// CHECK-LABEL: @expanded_by_the_run(
func.func @expanded_by_the_run(%x: tensor<5x1xf32>, %s: tensor<2xi64>) -> !relay.incomplete {
  // CHECK: relay.dyn.broadcast_to(%x, %s) {relay.binds = #relay.bounds<e, e_1>} {{.*}} -> tensor<5x?xf32, #relay.dims<e_1>>
  %r = relay.dyn.broadcast_to(%x, %s) : (tensor<5x1xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// As many rows as indices, out of 40: operands that broadcast have as many, or the run fails.
// CHECK-LABEL: @first_rows(
func.func @first_rows(%x: tensor<?xf32, #relay.dims<n>>, %table: tensor<40xf32>) -> !relay.incomplete {
  %n = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %zero = relay.constant dense<0> : tensor<1xi64>
  %one = relay.constant dense<1> : tensor<1xi64>
  // CHECK: relay.dyn.strided_slice({{.*}} -> tensor<?xf32, #relay.dims<min(40, n)>>
  %rows = relay.dyn.strided_slice(%table, %zero, %n, %one) : (tensor<40xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  // CHECK: relay.add({{.*}}broadcastable({{.*}}) "C2 extents"{{.*}} -> tensor<?xf32, #relay.dims<n>>
  %y = relay.add(%rows, %x) : (!relay.incomplete, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// Integer division truncates, which differs from floordiv for -1: PyTorch's form of the extents of strided layers. With
// the layers' requirements it is the same extent, and no op defines a new one.
// CHECK-LABEL: @strided(
func.func @strided(%x: tensor<1x4x?x5xf32, #relay.dims<n>>, %w: tensor<6x4x1x1xf32>) -> !relay.incomplete {
  %one = relay.constant dense<1> : tensor<i64>
  %eight = relay.constant dense<8> : tensor<i64>
  %shape = relay.shape_of(%x) : (tensor<1x4x?x5xf32, #relay.dims<n>>) -> tensor<4xi64>
  %axis = relay.constant dense<2> : tensor<i64>
  %n = relay.take(%shape, %axis) {axis = 0 : i64} : (tensor<4xi64>, tensor<i64>) -> !relay.incomplete
  %less = relay.subtract(%n, %one) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %steps = relay.divide(%less, %eight) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %h = relay.add(%steps, %one) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %extent = relay.reshape(%h) {newshape = [1]} : (!relay.incomplete) -> !relay.incomplete
  %rest = relay.constant dense<[6]> : tensor<1xi64>
  %t = relay.tuple(%rest, %extent) : (tensor<1xi64>, !relay.incomplete) -> !relay.incomplete
  %new = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
  %y = relay.nn.conv2d(%x, %w) {strides = [8, 5], channels = 6 : i64, kernel_size = [1, 1]} : (tensor<1x4x?x5xf32, #relay.dims<n>>, tensor<6x4x1x1xf32>) -> !relay.incomplete
  // CHECK: relay.dyn.reshape(%y, %new) : (tensor<1x6x?x1xf32, #relay.dims<(n + 7) floordiv 8>>, tensor<2xi64>) -> tensor<6x?xf32, #relay.dims<max(0, n - 1) floordiv 8 + 1>>
  %r = relay.dyn.reshape(%y, %new) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// An extent that becomes known is known at every use of its name.
// CHECK-LABEL: @settled(
// CHECK-SAME: -> (tensor<?xf32, #relay.dims<n + 4>>, tensor<?xf32, #relay.dims<n>>)
func.func @settled(%x: tensor<2x2xf32>, %y: tensor<?xf32, #relay.dims<n>>) -> (tensor<?xf32, #relay.dims<n + e>>, tensor<?xf32, #relay.dims<n>>) {
  %s = relay.constant dense<[4]> : tensor<1xi64>
  // CHECK: relay.dyn.reshape(%x, %s) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<4xf32>
  %r = relay.dyn.reshape(%x, %s) {relay.binds = #relay.bounds<e>} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
  %t = relay.tuple(%y, %r) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<e>>) -> tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<e>>>
  %c = relay.concatenate(%t) : (tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<e>>>) -> tensor<?xf32, #relay.dims<n + e>>
  func.return %c, %y : tensor<?xf32, #relay.dims<n + e>>, tensor<?xf32, #relay.dims<n>>
}

// The positions after a cache: `seq` numbers from `past`. Fewer than none may be left from `seq` to `past`.
// CHECK-LABEL: func.func @positions
// CHECK:         relay.arange(%p, %q, %one) : {{.*}} -> tensor<?xi64, #relay.dims<seq>>
// CHECK:         relay.arange(%s, %p, %one) {relay.binds = #relay.bounds<r>} : {{.*}} -> tensor<?xi64, #relay.dims<r>>
func.func @positions(%x: tensor<?xf32, #relay.dims<past>>, %y: tensor<?xf32, #relay.dims<seq>>) -> (!relay.incomplete, !relay.incomplete) {
  %one = relay.constant dense<1> : tensor<i64>
  %a = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<past>>) -> tensor<1xi64>
  %b = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<seq>>) -> tensor<1xi64>
  %p = relay.reshape(%a) {newshape = []} : (tensor<1xi64>) -> tensor<i64>
  %s = relay.reshape(%b) {newshape = []} : (tensor<1xi64>) -> tensor<i64>
  %q = relay.add(%p, %s) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %0 = relay.arange(%p, %q, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete
  %1 = relay.arange(%s, %p, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete
  func.return %0, %1 : !relay.incomplete, !relay.incomplete
}
