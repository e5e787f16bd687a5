// RUN: xrelay-opt %s -p relay-infer-type,relay-check-types | filecheck %s

// Simplenet: only the type of the data is known.
// CHECK-LABEL: func.func @simplenet(
// CHECK-SAME: %data: tensor<1x3x224x224xf32>, %w: tensor<32x3x3x3xf32>, %g: tensor<32xf32>, %b: tensor<32xf32>
// CHECK-SAME: -> tensor<1x32x112x112xf32>
func.func @simplenet(
    %data: tensor<1x3x224x224xf32>, %w: !relay.incomplete, %g: !relay.incomplete, %b: !relay.incomplete,
    %m: !relay.incomplete, %v: !relay.incomplete) -> !relay.incomplete {
  // CHECK: relay.nn.conv2d
  // CHECK-SAME: (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
  %c = relay.nn.conv2d(%data, %w) {strides = [2, 2], padding = [1, 1, 1, 1], channels = 32, kernel_size = [3, 3]}
    : (tensor<1x3x224x224xf32>, !relay.incomplete) -> !relay.incomplete
  // CHECK: relay.nn.batch_norm
  // CHECK-SAME: -> tuple<tensor<1x32x112x112xf32>, tensor<32xf32>, tensor<32xf32>>
  %n = relay.nn.batch_norm(%c, %g, %b, %m, %v) : (!relay.incomplete, !relay.incomplete, !relay.incomplete,
    !relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %0 = relay.tuple_get_item(%n) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %1 = relay.nn.relu(%0) : (!relay.incomplete) -> !relay.incomplete
  func.return %1 : !relay.incomplete
}

// CHECK-LABEL: func.func @backwards(
// CHECK-SAME: %x: tensor<4x8xf32>) -> tensor<8x4xf32>
func.func @backwards(%x: !relay.incomplete) -> !relay.incomplete {
  %0 = relay.nn.relu(%x) : (!relay.incomplete) -> !relay.incomplete
  %1 = relay.nn.softmax(%0) : (!relay.incomplete) -> !relay.incomplete
  %2 = relay.transpose(%1) {axes = [1, 0]} : (!relay.incomplete) -> !relay.incomplete
  %3 = relay.exp(%2) : (!relay.incomplete) -> tensor<8x4xf32>
  %4 = relay.exp(%3) : (tensor<8x4xf32>) -> !relay.incomplete
  func.return %4 : !relay.incomplete
}

// CHECK-LABEL: func.func @dense_and_bias(
// CHECK-SAME: %w: tensor<10x16xf32>, %b: tensor<10xf32>) -> tensor<2x10xf32>
func.func @dense_and_bias(%x: tensor<2x16xf32>, %w: !relay.incomplete, %b: !relay.incomplete) -> !relay.incomplete {
  %0 = relay.nn.dense(%x, %w) {units = 10} : (tensor<2x16xf32>, !relay.incomplete) -> !relay.incomplete
  %1 = relay.nn.bias_add(%0, %b) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %1 : !relay.incomplete
}

// CHECK-LABEL: func.func @matmul_transposed(
// CHECK-SAME: %w: tensor<10x16xf32>) -> tensor<3x2x10xf32>
func.func @matmul_transposed(%x: tensor<3x16x2xf32>, %w: !relay.incomplete) -> !relay.incomplete {
  %0 = relay.nn.matmul(%x, %w) {units = 10, transpose_a = true, transpose_b = true}
    : (tensor<3x16x2xf32>, !relay.incomplete) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// The weight's type from the result's channels.
// CHECK-LABEL: func.func @grouped_weight(
// CHECK-SAME: %w: tensor<8x2x3x3xf32>)
func.func @grouped_weight(%x: tensor<1x4x8x8xf32>, %w: !relay.incomplete) -> tensor<1x8x6x6xf32> {
  %0 = relay.nn.conv2d(%x, %w) {groups = 2, kernel_size = [3, 3]}
    : (tensor<1x4x8x8xf32>, !relay.incomplete) -> tensor<1x8x6x6xf32>
  func.return %0 : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @names_spread(
// CHECK-SAME: -> tensor<?x8xf32, #relay.dims<2 * n>>
func.func @names_spread(%x: tensor<?x4xf32, #relay.dims<n>>) -> !relay.incomplete {
  // CHECK: relay.exp(%x) : (tensor<?x4xf32, #relay.dims<n>>) -> tensor<?x4xf32, #relay.dims<n>>
  %0 = relay.exp(%x) : (tensor<?x4xf32, #relay.dims<n>>) -> tensor<?x4xf32>
  %1 = relay.tuple(%0, %0) : (tensor<?x4xf32>, tensor<?x4xf32>) -> !relay.incomplete
  %2 = relay.concatenate(%1) : (!relay.incomplete) -> !relay.incomplete
  %3 = relay.tuple(%2, %2) : (!relay.incomplete, !relay.incomplete) -> tuple<!relay.incomplete, !relay.incomplete>
  %4 = relay.concatenate(%3) {axis = 1} : (tuple<!relay.incomplete, !relay.incomplete>) -> !relay.incomplete
  func.return %4 : !relay.incomplete
}

// Types propagate from callees to callers, and back.
// CHECK-LABEL: func.func @caller(
// CHECK-SAME: %x: tensor<4xf32>) -> tensor<2x2xf32>
func.func @caller(%x: !relay.incomplete) -> !relay.incomplete {
  %0 = func.call @callee(%x) : (!relay.incomplete) -> !relay.incomplete
  %1 = func.call @reshape_rows(%0) : (!relay.incomplete) -> !relay.incomplete
  func.return %1 : !relay.incomplete
}
func.func private @callee(%x: !relay.incomplete) -> !relay.incomplete {
  %0 = relay.exp(%x) : (!relay.incomplete) -> tensor<4xf32>
  %1 = relay.exp(%0) : (tensor<4xf32>) -> !relay.incomplete
  func.return %1 : !relay.incomplete
}
// CHECK-LABEL: func.func private @reshape_rows(
// CHECK-SAME: %x: tensor<4xf32>) -> tensor<2x2xf32>
func.func private @reshape_rows(%x: !relay.incomplete) -> !relay.incomplete {
  %0 = relay.reshape(%x) {newshape = [2, -1]} : (!relay.incomplete) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// Types propagate across region boundaries both ways.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME: %c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @regions(%c: !relay.incomplete, %x: !relay.incomplete) -> !relay.incomplete {
  // CHECK: relay.fn rec(%self)(%a: tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn rec(%self)(%a: !relay.incomplete) -> !relay.incomplete {
    // CHECK: relay.if %c : tensor<i1> -> tensor<4xf32>
    %0 = relay.if %c : !relay.incomplete -> !relay.incomplete {
      %1 = relay.invoke %self(%a) : (!relay.incomplete) -> !relay.incomplete
      relay.yield %1 : !relay.incomplete
    } else {
      relay.yield %a : !relay.incomplete
    }
    relay.yield %0 : !relay.incomplete
  }
  // CHECK: relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.invoke %f(%x) : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.fused @g(%p = %{{.*}} : tensor<4xf32>) -> tensor<4xf32>
  %3 = relay.fused @g(%p = %2 : !relay.incomplete) -> !relay.incomplete {
    %4 = relay.exp(%p) : (!relay.incomplete) -> tensor<4xf32>
    relay.yield %4 : tensor<4xf32>
  }
  %5 = relay.let "v" = %3 : !relay.incomplete
  func.return %5 : !relay.incomplete
}
