// RUN: xrelay-opt %s -p relay-simplify-batch-matmul | filecheck %s
// RUN: xrelay-opt %s -p relay-simplify-batch-matmul --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// Keys are repeated for a group of queries, transposed and scaled.
// CHECK-LABEL: func.func @scores
// CHECK-NEXT:    %[[Q:.*]] = relay.multiply(%q, %c)
// CHECK-NEXT:    %[[A:.*]] = relay.reshape(%[[Q]]) {newshape = [0, -4, -1, 4, 0, 0]} : (tensor<2x16x3x64xf32>) -> tensor<2x4x4x3x64xf32>
// CHECK-NEXT:    %[[B:.*]] = relay.reshape(%[[A]]) {newshape = [0, 0, -3, 0]} : (tensor<2x4x4x3x64xf32>) -> tensor<2x4x12x64xf32>
// CHECK-NEXT:    %[[P:.*]] = relay.nn.batch_matmul(%[[B]], %k) : (tensor<2x4x12x64xf32>, tensor<2x4x512x64xf32>) -> tensor<2x4x12x512xf32>
// CHECK-NEXT:    %[[S:.*]] = relay.reshape(%[[P]]) {{.*}} -> tensor<2x4x4x3x512xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.reshape(%[[S]]) {{.*}} -> tensor<2x16x3x512xf32>
// CHECK-NEXT:    func.return %[[Y]]
// SAYS: relay.nn.batch_matmul: reads its second operand without a copy
func.func @scores(%q: tensor<2x16x3x64xf32>, %k: tensor<2x4x512x64xf32>, %c: tensor<1xf32>) -> tensor<2x16x3x512xf32> {
  %e = relay.expand_dims(%k) {axis = 2} : (tensor<2x4x512x64xf32>) -> tensor<2x4x1x512x64xf32>
  %b = relay.broadcast_to(%e) {shape = [2, 4, 4, 512, 64]} : (tensor<2x4x1x512x64xf32>) -> tensor<2x4x4x512x64xf32>
  %r = relay.reshape(%b) {newshape = [2, 16, 512, 64]} : (tensor<2x4x4x512x64xf32>) -> tensor<2x16x512x64xf32>
  %t = relay.transpose(%r) {axes = [0, 1, 3, 2]} : (tensor<2x16x512x64xf32>) -> tensor<2x16x64x512xf32>
  %m = relay.multiply(%c, %t) : (tensor<1xf32>, tensor<2x16x64x512xf32>) -> tensor<2x16x64x512xf32>
  %y = relay.nn.batch_matmul(%q, %m) {transpose_b = false} : (tensor<2x16x3x64xf32>, tensor<2x16x64x512xf32>) -> tensor<2x16x3x512xf32>
  func.return %y : tensor<2x16x3x512xf32>
}

// The number of queries and of keys may be dynamic.
// CHECK-LABEL: func.func @values
// CHECK:         relay.nn.batch_matmul(%{{.*}}, %v) {transpose_b = false} : (tensor<1x4x?x?xf32, #relay.dims<4 * s, n>>, tensor<1x4x?x64xf32, #relay.dims<n>>)
// CHECK:         func.return %{{.*}} : tensor<1x16x?x64xf32, #relay.dims<s>>
func.func @values(%p: tensor<1x16x?x?xf32, #relay.dims<s, n>>, %v: tensor<1x4x?x64xf32, #relay.dims<n>>) -> tensor<1x16x?x64xf32, #relay.dims<s>> {
  %r = relay.repeat(%v) {repeats = 4, axis = 1} : (tensor<1x4x?x64xf32, #relay.dims<n>>) -> tensor<1x16x?x64xf32, #relay.dims<n>>
  %y = relay.nn.batch_matmul(%p, %r) {transpose_b = false} : (tensor<1x16x?x?xf32, #relay.dims<s, n>>, tensor<1x16x?x64xf32, #relay.dims<n>>) -> tensor<1x16x?x64xf32, #relay.dims<s>>
  func.return %y : tensor<1x16x?x64xf32, #relay.dims<s>>
}

// The shapes of a repetition may be operands, as for a dynamic number of keys.
// CHECK-LABEL: func.func @dynamic_shapes
// CHECK-NOT:     relay.dyn.
// CHECK:         relay.nn.batch_matmul(%{{.*}}, %k) : (tensor<1x4x4x64xf32>, tensor<1x4x?x64xf32, #relay.dims<n>>)
// CHECK-NOT:     relay.dyn.
func.func @dynamic_shapes(%q: tensor<1x16x1x64xf32>, %k: tensor<1x4x?x64xf32, #relay.dims<n>>) -> tensor<1x16x1x?xf32, #relay.dims<n>> {
  %c = relay.constant dense<[4, 64]> : tensor<2xi64>
  %f = relay.constant dense<[1, 4, 4]> : tensor<3xi64>
  %g = relay.constant dense<[1, 16]> : tensor<2xi64>
  %w = relay.constant dense<64> : tensor<1xi64>
  %s = relay.shape_of(%k) : (tensor<1x4x?x64xf32, #relay.dims<n>>) -> tensor<4xi64>
  %n = relay.strided_slice(%s) {begin = [2], end = [3], axes = [0]} : (tensor<4xi64>) -> tensor<1xi64>
  %u = relay.tuple(%f, %n, %w) : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<3xi64>, tensor<1xi64>, tensor<1xi64>>
  %v = relay.concatenate(%u) : (tuple<tensor<3xi64>, tensor<1xi64>, tensor<1xi64>>) -> tensor<5xi64>
  %i = relay.tuple(%g, %n, %w) : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tuple<tensor<2xi64>, tensor<1xi64>, tensor<1xi64>>
  %j = relay.concatenate(%i) : (tuple<tensor<2xi64>, tensor<1xi64>, tensor<1xi64>>) -> tensor<4xi64>
  %e = relay.expand_dims(%k) {axis = 2} : (tensor<1x4x?x64xf32, #relay.dims<n>>) -> tensor<1x4x1x?x64xf32, #relay.dims<n>>
  %b = relay.dyn.broadcast_to(%e, %v) : (tensor<1x4x1x?x64xf32, #relay.dims<n>>, tensor<5xi64>) -> tensor<1x4x4x?x64xf32, #relay.dims<n>>
  %r = relay.dyn.reshape(%b, %j) {relay.requires = #relay.requirements<n >= 1 "C2 an extent that is not copied">} : (tensor<1x4x4x?x64xf32, #relay.dims<n>>, tensor<4xi64>) -> tensor<1x16x?x64xf32, #relay.dims<n>>
  %y = relay.nn.batch_matmul(%q, %r) : (tensor<1x16x1x64xf32>, tensor<1x16x?x64xf32, #relay.dims<n>>) -> tensor<1x16x1x?xf32, #relay.dims<n>>
  func.return %y : tensor<1x16x1x?xf32, #relay.dims<n>>
}

// Two transpositions cancel.
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT:    relay.nn.batch_matmul(%a, %b) {transpose_b = false}
func.func @transposed(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %t = relay.transpose(%b) {axes = [0, 2, 1]} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  %y = relay.nn.batch_matmul(%a, %t) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// A factor alone, other transpositions, factors of several elements and repetitions of rows: left alone.
// CHECK-LABEL: func.func @others
// CHECK:         relay.nn.batch_matmul(%a, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>)
// CHECK:         relay.nn.batch_matmul(%a, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>)
// CHECK:         relay.nn.batch_matmul(%a, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>)
// CHECK:         relay.nn.batch_matmul(%a, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x10x4xf32>)
func.func @others(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>, %o: tensor<5x2x4xf32>, %c: tensor<1xf32>, %d: tensor<4xf32>)
    -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x10xf32>) {
  %m = relay.multiply(%b, %c) : (tensor<2x5x4xf32>, tensor<1xf32>) -> tensor<2x5x4xf32>
  %0 = relay.nn.batch_matmul(%a, %m) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %t = relay.transpose(%o) {axes = [1, 0, 2]} : (tensor<5x2x4xf32>) -> tensor<2x5x4xf32>
  %1 = relay.nn.batch_matmul(%a, %t) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %s = relay.multiply(%b, %d) : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  %2 = relay.nn.batch_matmul(%a, %s) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %r = relay.repeat(%b) {repeats = 2, axis = 1} : (tensor<2x5x4xf32>) -> tensor<2x10x4xf32>
  %3 = relay.nn.batch_matmul(%a, %r) : (tensor<2x3x4xf32>, tensor<2x10x4xf32>) -> tensor<2x3x10xf32>
  func.return %0, %1, %2, %3 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x10xf32>
}

// Matrices of many rows, with transposed rows, or for which the stacks broadcast: the repetition stays.
// CHECK-LABEL: func.func @repetitions
// CHECK:         relay.nn.batch_matmul(%a, %{{.*}}) : (tensor<4x65x4xf32>, tensor<4x5x4xf32>)
// CHECK:         relay.nn.batch_matmul(%b, %{{.*}}) {transpose_a = true} : (tensor<4x4x3xf32>, tensor<4x5x4xf32>)
// CHECK:         relay.nn.batch_matmul(%c, %{{.*}}) : (tensor<1x3x4xf32>, tensor<4x5x4xf32>)
func.func @repetitions(%a: tensor<4x65x4xf32>, %b: tensor<4x4x3xf32>, %c: tensor<1x3x4xf32>, %k: tensor<2x5x4xf32>)
    -> (tensor<4x65x5xf32>, tensor<4x3x5xf32>, tensor<4x3x5xf32>) {
  %r = relay.repeat(%k) {repeats = 2, axis = 0} : (tensor<2x5x4xf32>) -> tensor<4x5x4xf32>
  %0 = relay.nn.batch_matmul(%a, %r) : (tensor<4x65x4xf32>, tensor<4x5x4xf32>) -> tensor<4x65x5xf32>
  %1 = relay.nn.batch_matmul(%b, %r) {transpose_a = true} : (tensor<4x4x3xf32>, tensor<4x5x4xf32>) -> tensor<4x3x5xf32>
  %2 = relay.nn.batch_matmul(%c, %r) : (tensor<1x3x4xf32>, tensor<4x5x4xf32>) -> tensor<4x3x5xf32>
  func.return %0, %1, %2 : tensor<4x65x5xf32>, tensor<4x3x5xf32>, tensor<4x3x5xf32>
}
