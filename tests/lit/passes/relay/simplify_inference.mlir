// RUN: xrelay-opt %s -p relay-simplify-inference | filecheck %s

// CHECK-LABEL: func.func @batch_norm
// CHECK-NEXT:    %[[EPS:.*]] = relay.constant dense<1.000000e-05> : tensor<f32>
// CHECK-NEXT:    %[[VE:.*]] = relay.add(%v, %[[EPS]])
// CHECK-NEXT:    %[[R:.*]] = relay.rsqrt(%[[VE]])
// CHECK-NEXT:    %[[S:.*]] = relay.multiply(%g, %[[R]])
// CHECK-NEXT:    %[[M:.*]] = relay.negative(%m)
// CHECK-NEXT:    %[[P:.*]] = relay.multiply(%[[M]], %[[S]])
// CHECK-NEXT:    %[[B:.*]] = relay.add(%[[P]], %b)
// CHECK-NEXT:    %[[SCALE:.*]] = relay.expand_dims(%[[S]]) {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.multiply(%x, %[[SCALE]])
// CHECK-NEXT:    %[[SHIFT:.*]] = relay.expand_dims(%[[B]])
// CHECK-NEXT:    %[[Z:.*]] = relay.add(%[[Y]], %[[SHIFT]])
// CHECK-NEXT:    func.return %[[Z]]
func.func @batch_norm(%x: tensor<1x8x4x4xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  %t = relay.nn.batch_norm(%x, %g, %b, %m, %v) : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>>
  %y = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>>) -> tensor<1x8x4x4xf32>
  func.return %y : tensor<1x8x4x4xf32>
}

// Without gamma and beta, along the last axis; the statistics are results.
// CHECK-LABEL: func.func @statistics
// CHECK-NOT:     relay.expand_dims
// CHECK:         %[[R:.*]] = relay.rsqrt
// CHECK-NEXT:    %[[M:.*]] = relay.negative(%m)
// CHECK-NEXT:    %[[B:.*]] = relay.multiply(%[[M]], %[[R]])
// CHECK-NEXT:    %[[Y:.*]] = relay.multiply(%x, %[[R]])
// CHECK-NEXT:    %[[Z:.*]] = relay.add(%[[Y]], %[[B]])
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[Z]], %m, %v)
// CHECK-NEXT:    func.return %[[T]]
func.func @statistics(%x: tensor<2x8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) -> tuple<tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>> {
  %t = relay.nn.batch_norm(%x, %m, %m, %m, %v) {axis = -1, scale = false, center = false} : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>>
  func.return %t : tuple<tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>>
}

// CHECK-LABEL: func.func @dropout
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.relu(%x)
// CHECK-NEXT:    func.return %[[Y]]
func.func @dropout(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = relay.nn.dropout(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %d = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %y = relay.nn.relu(%d) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// The mask is a constant of ones.
// CHECK-LABEL: func.func @mask
// CHECK-NEXT:    %[[M:.*]] = relay.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    func.return %[[M]]
func.func @mask(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = relay.nn.dropout(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %m = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// A mask of unknown shape cannot be a constant; a batch norm of unknown type stays.
// CHECK-LABEL: func.func @left_alone
// CHECK-NEXT:    relay.nn.dropout
// CHECK:         relay.nn.batch_norm
func.func @left_alone(%x: tensor<?xf32>, %y: !relay.incomplete) -> (tensor<?xf32>, !relay.incomplete) {
  %t = relay.nn.dropout(%x) : (tensor<?xf32>) -> tuple<tensor<?xf32>, tensor<?xf32>>
  %m = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<?xf32>, tensor<?xf32>>) -> tensor<?xf32>
  %n = relay.nn.batch_norm(%y, %y, %y, %y, %y) : (!relay.incomplete, !relay.incomplete, !relay.incomplete, !relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %m, %n : tensor<?xf32>, !relay.incomplete
}

// Requirements of the op on names that its expansion lacks are kept, also for the statistics.
// CHECK-LABEL: func.func @demands
// CHECK:         %[[Z:.*]] = relay.add({{.*}} -> tensor<5x?x?xf32, #relay.dims<n, n>>
// CHECK-NEXT:    %[[Y:.*]] = relay.require(%[[Z]]) {demands = #relay.requirements<n == 1 {{.*}} -> tensor<5x?x1xf32, #relay.dims<n>>
// CHECK-NEXT:    %[[M:.*]] = relay.require(%m) {demands = #relay.requirements<n == 1 {{.*}} -> tensor<1xf32>
// CHECK-NEXT:    func.return %[[Y]], %[[M]]
func.func @demands(%x: tensor<5x?x1xf32, #relay.dims<n>>, %g: tensor<1xf32>, %m: tensor<?xf32, #relay.dims<n>>)
    -> (tensor<5x?x1xf32, #relay.dims<n>>, tensor<1xf32>) {
  %t = relay.nn.batch_norm(%x, %g, %g, %m, %g) {axis = 2, relay.requires = #relay.requirements<n == 1 "C2 the mean">}
    : (tensor<5x?x1xf32, #relay.dims<n>>, tensor<1xf32>, tensor<1xf32>, tensor<?xf32, #relay.dims<n>>, tensor<1xf32>)
    -> tuple<tensor<5x?x1xf32, #relay.dims<n>>, tensor<1xf32>, tensor<1xf32>>
  %y = relay.tuple_get_item(%t) {index = 0}
    : (tuple<tensor<5x?x1xf32, #relay.dims<n>>, tensor<1xf32>, tensor<1xf32>>) -> tensor<5x?x1xf32, #relay.dims<n>>
  %n = relay.tuple_get_item(%t) {index = 1}
    : (tuple<tensor<5x?x1xf32, #relay.dims<n>>, tensor<1xf32>, tensor<1xf32>>) -> tensor<1xf32>
  func.return %y, %n : tensor<5x?x1xf32, #relay.dims<n>>, tensor<1xf32>
}
