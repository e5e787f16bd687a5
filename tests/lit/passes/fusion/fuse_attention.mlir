// RUN: xrelay-opt %s -p relay-fuse-ops,relay-fuse-attention | filecheck %s

// Scores, softmax and weighted values are one kernel.
// CHECK-LABEL: func.func @attention
// CHECK-NEXT: [[Y:%.*]] = relay.fused @fused_nn_batch_matmul_add_nn_softmax_nn_batch_matmul({{.*}} = %v : {{.*}}, {{.*}} = %q : {{.*}}, {{.*}} = %k : {{.*}}, {{.*}} = %m : {{.*}})
// CHECK: [[S:%.*]] = relay.nn.batch_matmul
// CHECK: [[M:%.*]] = relay.add([[S]], {{.*}})
// CHECK: [[W:%.*]] = relay.nn.softmax([[M]])
// CHECK: relay.nn.batch_matmul([[W]], %p0) {transpose_b = false}
// CHECK: func.return [[Y]]
func.func @attention(%q: tensor<2x32x16xf32>, %k: tensor<2x48x16xf32>, %v: tensor<2x48x16xf32>, %m: tensor<48xf32>) -> tensor<2x32x16xf32> {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x32x16xf32>, tensor<2x48x16xf32>) -> tensor<2x32x48xf32>
  %a = relay.add(%s, %m) : (tensor<2x32x48xf32>, tensor<48xf32>) -> tensor<2x32x48xf32>
  %w = relay.nn.softmax(%a) : (tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x32x48xf32>, tensor<2x48x16xf32>) -> tensor<2x32x16xf32>
  func.return %y : tensor<2x32x16xf32>
}

// The scores, or the weights, are a result too.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-5: relay.fused @
func.func @read(%q: tensor<2x32x16xf32>, %k: tensor<2x48x16xf32>, %v: tensor<2x48x16xf32>) -> (tensor<2x32x48xf32>, tensor<2x32x48xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>) {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x32x16xf32>, tensor<2x48x16xf32>) -> tensor<2x32x48xf32>
  %w = relay.nn.softmax(%s) : (tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x32x48xf32>, tensor<2x48x16xf32>) -> tensor<2x32x16xf32>
  %x = relay.nn.softmax(%s) : (tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
  %z = relay.nn.batch_matmul(%x, %v) {transpose_b = false} : (tensor<2x32x48xf32>, tensor<2x48x16xf32>) -> tensor<2x32x16xf32>
  func.return %x, %x, %y, %z : tensor<2x32x48xf32>, tensor<2x32x48xf32>, tensor<2x32x16xf32>, tensor<2x32x16xf32>
}

// A softmax over queries, weights that are the second operand, and a single query.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-9: relay.fused @
func.func @others(%q: tensor<2x32x16xf32>, %k: tensor<2x32x16xf32>, %v: tensor<2x32x32xf32>, %o: tensor<2x1x16xf32>) -> (tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x1x32xf32>) {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x32x16xf32>, tensor<2x32x16xf32>) -> tensor<2x32x32xf32>
  %w = relay.nn.softmax(%s) {axis = 1} : (tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x32x32xf32>, tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %t = relay.nn.batch_matmul(%k, %q) : (tensor<2x32x16xf32>, tensor<2x32x16xf32>) -> tensor<2x32x32xf32>
  %u = relay.nn.softmax(%t) : (tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %z = relay.nn.batch_matmul(%v, %u) {transpose_b = false} : (tensor<2x32x32xf32>, tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %a = relay.nn.batch_matmul(%o, %k) : (tensor<2x1x16xf32>, tensor<2x32x16xf32>) -> tensor<2x1x32xf32>
  %b = relay.nn.softmax(%a) : (tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
  %c = relay.nn.batch_matmul(%b, %v) {transpose_b = false} : (tensor<2x1x32xf32>, tensor<2x32x32xf32>) -> tensor<2x1x32xf32>
  func.return %y, %z, %c : tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x1x32xf32>
}

// The number of queries is dynamic, and may be 1.
// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-3: relay.fused @
func.func @dynamic(%q: tensor<2x?x16xf32, #relay.dims<n>>, %k: tensor<2x48x16xf32>, %v: tensor<2x48x16xf32>) -> tensor<2x?x16xf32, #relay.dims<n>> {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x?x16xf32, #relay.dims<n>>, tensor<2x48x16xf32>) -> tensor<2x?x48xf32, #relay.dims<n>>
  %w = relay.nn.softmax(%s) : (tensor<2x?x48xf32, #relay.dims<n>>) -> tensor<2x?x48xf32, #relay.dims<n>>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x?x48xf32, #relay.dims<n>>, tensor<2x48x16xf32>) -> tensor<2x?x16xf32, #relay.dims<n>>
  func.return %y : tensor<2x?x16xf32, #relay.dims<n>>
}

// There are at least 8 queries.
// CHECK-LABEL: func.func @at_least
// CHECK-COUNT-1: relay.fused @
// CHECK-NOT: relay.fused @
func.func @at_least(%q: tensor<2x?x16xf32, #relay.dims<n>>, %k: tensor<2x48x16xf32>, %v: tensor<2x48x16xf32>) -> tensor<2x?x16xf32, #relay.dims<n>> attributes {relay.sizes = {n = array<i64: 8, 100, 50>}} {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x?x16xf32, #relay.dims<n>>, tensor<2x48x16xf32>) -> tensor<2x?x48xf32, #relay.dims<n>>
  %w = relay.nn.softmax(%s) : (tensor<2x?x48xf32, #relay.dims<n>>) -> tensor<2x?x48xf32, #relay.dims<n>>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x?x48xf32, #relay.dims<n>>, tensor<2x48x16xf32>) -> tensor<2x?x16xf32, #relay.dims<n>>
  func.return %y : tensor<2x?x16xf32, #relay.dims<n>>
}

// There are as many queries as keys.
// CHECK-LABEL: func.func @self
// CHECK-COUNT-1: relay.fused @
// CHECK-NOT: relay.fused @
func.func @self(%q: tensor<2x?x16xf32, #relay.dims<n>>) -> tensor<2x?x16xf32, #relay.dims<n>> {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<2x?x16xf32, #relay.dims<n>>, tensor<2x?x16xf32, #relay.dims<n>>) -> tensor<2x?x?xf32, #relay.dims<n, n>>
  %w = relay.nn.softmax(%s) : (tensor<2x?x?xf32, #relay.dims<n, n>>) -> tensor<2x?x?xf32, #relay.dims<n, n>>
  %y = relay.nn.batch_matmul(%w, %q) {transpose_b = false} : (tensor<2x?x?xf32, #relay.dims<n, n>>, tensor<2x?x16xf32, #relay.dims<n>>) -> tensor<2x?x16xf32, #relay.dims<n>>
  func.return %y : tensor<2x?x16xf32, #relay.dims<n>>
}

// A single matrix has no loop in which its queries are a block.
// CHECK-LABEL: func.func @single
// CHECK-COUNT-3: relay.fused @
func.func @single(%q: tensor<1x?x16xf32, #relay.dims<n>>) -> tensor<1x?x16xf32, #relay.dims<n>> {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<1x?x16xf32, #relay.dims<n>>, tensor<1x?x16xf32, #relay.dims<n>>) -> tensor<1x?x?xf32, #relay.dims<n, n>>
  %w = relay.nn.softmax(%s) : (tensor<1x?x?xf32, #relay.dims<n, n>>) -> tensor<1x?x?xf32, #relay.dims<n, n>>
  %y = relay.nn.batch_matmul(%w, %q) {transpose_b = false} : (tensor<1x?x?xf32, #relay.dims<n, n>>, tensor<1x?x16xf32, #relay.dims<n>>) -> tensor<1x?x16xf32, #relay.dims<n>>
  func.return %y : tensor<1x?x16xf32, #relay.dims<n>>
}

// The weights are split into parts.
// CHECK-LABEL: func.func @parts
// CHECK-COUNT-1: relay.fused @
// CHECK-NOT: relay.fused @
func.func @parts(%q: tensor<2x2x32x32xbf16>, %k: tensor<2x2x2x16x16x2xbf16>, %v: tensor<2x2x1x16x16x2xbf16>) -> tensor<2x32x16xf32> {
  %s = relay.nn.contrib_dense_split(%q, %k) : (tensor<2x2x32x32xbf16>, tensor<2x2x2x16x16x2xbf16>) -> tensor<2x32x32xf32>
  %w = relay.nn.softmax(%s) : (tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %p = relay.nn.contrib_split_floats(%w) : (tensor<2x32x32xf32>) -> tensor<2x2x32x32xbf16>
  %y = relay.nn.contrib_dense_split(%p, %v) : (tensor<2x2x32x32xbf16>, tensor<2x2x1x16x16x2xbf16>) -> tensor<2x32x16xf32>
  func.return %y : tensor<2x32x16xf32>
}
