// RUN: xrelay-opt %s -p relay-name-extents | filecheck %s
// RUN: xrelay-opt %s -p relay-name-extents,relay-name-extents | filecheck %s

// The elements are the extents; the op binds nothing.
// CHECK-LABEL: func.func @full(
// CHECK-NEXT:    %[[V:.*]] = relay.extents(%s) {relay.binds = #relay.bounds<e>, relay.extent_descriptions = [{is = "extent 0 of relay.dyn.full", fails = "relay.dyn.full: element 0 of the shape is {value}"}]} : (tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    relay.dyn.full(%f, %[[V]]) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
func.func @full(%f: tensor<f32>, %s: tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>> {
  %y = relay.dyn.full(%f, %s) {relay.binds = #relay.bounds<e>} : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
  func.return %y : tensor<?xf32, #relay.dims<e>>
}

// -1 is the remaining extent, 0 copies; then every element is an extent.
// CHECK-LABEL: func.func @reshape(
// CHECK:         relay.shape_of(%x)
// CHECK:         relay.prod
// CHECK:         relay.ndarray_size(%x)
// CHECK:         %[[V:.*]] = relay.extents({{.*}}) {relay.binds = #relay.bounds<e, e_1>, relay.extent_descriptions = {{.*}}}
// CHECK-NEXT:    relay.dyn.reshape(%x, %[[V]]) {allowzero = true, relay.requires = #relay.requirements<n == e * e_1 "C3
func.func @reshape(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<e, e_1>> {
  %y = relay.dyn.reshape(%x, %s) {relay.binds = #relay.bounds<e, e_1>} : (tensor<?xf32, #relay.dims<n>>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<e, e_1>>
  func.return %y : tensor<?x?xf32, #relay.dims<e, e_1>>
}

// CHECK-LABEL: func.func @broadcast_to(
// CHECK:         relay.equal
// CHECK:         relay.where
// CHECK:         %[[V:.*]] = relay.extents({{.*}}) {relay.binds = #relay.bounds<e>, relay.extent_descriptions = {{.*}}}
// CHECK-NEXT:    relay.dyn.broadcast_to(%x, %[[V]]) {relay.requires = #relay.requirements<broadcastable(n, e) "C2 broadcast extents", broadcast(e, n) == e
func.func @broadcast_to(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>> {
  %y = relay.dyn.broadcast_to(%x, %s) {relay.binds = #relay.bounds<e>} : (tensor<?xf32, #relay.dims<n>>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
  func.return %y : tensor<?xf32, #relay.dims<e>>
}

// A dynamic element is an extent, even if the data's extent determines it.
// CHECK-LABEL: func.func @broadcast_known(
// CHECK:         %[[V:.*]] = relay.extents({{.*}}) {relay.binds = #relay.bounds<[[E:.*]]>, relay.extent_descriptions = {{.*}}}
// CHECK-NEXT:    relay.dyn.broadcast_to(%x, %[[V]]) {relay.requires = #relay.requirements<broadcastable(5, [[E]]) "C2
func.func @broadcast_known(%x: tensor<5xf32>, %s: tensor<1xi64>) -> tensor<5xf32> {
  %y = relay.dyn.broadcast_to(%x, %s) {relay.binds = #relay.bounds<e>} : (tensor<5xf32>, tensor<1xi64>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// Repetitions, which are not extents of the result, have names too; the extent is the rule's expression of them.
// CHECK-LABEL: func.func @tile(
// CHECK:         relay.multiply(%s, %{{.*}})
// CHECK:         relay.extents({{.*}}) {relay.binds = #relay.bounds<e_1, e>, relay.extent_descriptions = [{is = "number 0 of relay.dyn.tile", fails = "relay.dyn.tile: number 0 of repetitions is {value}"}, {is = "extent 0 of relay.dyn.tile", {{.*}} : (tensor<2xi64>) -> tensor<2xi64>
// CHECK:         relay.dyn.tile(%x, {{.*}}) {relay.requires = #relay.requirements<4 * e_1 == e "C0 result extent">}
func.func @tile(%x: tensor<4xf32>, %s: tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>> {
  %y = relay.dyn.tile(%x, %s) {relay.binds = #relay.bounds<e>} : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
  func.return %y : tensor<?xf32, #relay.dims<e>>
}

// CHECK-LABEL: func.func @pad(
// CHECK:         relay.extents({{.*}}) {relay.binds = #relay.bounds<e_1, e_2, e>, relay.extent_descriptions = {{.*}}} : (tensor<3xi64>) -> tensor<3xi64>
// CHECK:         relay.dyn.nn.pad({{.*}}) {relay.requires = #relay.requirements<e_1 + e_2 + 4 == e "C0 result extent">}
func.func @pad(%x: tensor<4xf32>, %w: tensor<1x2xi64>, %v: tensor<f32>) -> tensor<?xf32, #relay.dims<e>> {
  %y = relay.dyn.nn.pad(%x, %w, %v) {relay.binds = #relay.bounds<e>} : (tensor<4xf32>, tensor<1x2xi64>, tensor<f32>) -> tensor<?xf32, #relay.dims<e>>
  func.return %y : tensor<?xf32, #relay.dims<e>>
}

// CHECK-LABEL: func.func @topk(
// CHECK-NEXT:    %[[V:.*]] = relay.extents(%k) {relay.binds = #relay.bounds<k>, relay.extent_descriptions = {{.*}}}
// CHECK-NEXT:    relay.dyn.topk(%x, %[[V]]) {ret_type = "values", relay.requires = #relay.requirements<n >= k "C2
func.func @topk(%x: tensor<?xf32, #relay.dims<n>>, %k: tensor<i64>) -> tensor<?xf32, #relay.dims<k>> {
  %y = relay.dyn.topk(%x, %k) {ret_type = "values", relay.binds = #relay.bounds<k <= n>} : (tensor<?xf32, #relay.dims<n>>, tensor<i64>) -> tensor<?xf32, #relay.dims<k>>
  func.return %y : tensor<?xf32, #relay.dims<k>>
}

// The slice takes its first index and its size.
// CHECK-LABEL: func.func @slice(
// CHECK:         %[[V:.*]] = relay.extents({{.*}}) {relay.binds = #relay.bounds<k>, relay.extent_descriptions = {{.*}}}
// CHECK:         relay.dyn.strided_slice(%x, %{{.*}}, %[[V]], %{{.*}}) {slice_mode = "size", relay.requires = #relay.requirements<n >= k "C3
func.func @slice(%x: tensor<?xf32, #relay.dims<n>>, %b: tensor<1xi64>, %e: tensor<1xi64>, %s: tensor<1xi64>) -> tensor<?xf32, #relay.dims<k>> {
  %y = relay.dyn.strided_slice(%x, %b, %e, %s) {relay.binds = #relay.bounds<k <= n>} : (tensor<?xf32, #relay.dims<n>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<k>>
  func.return %y : tensor<?xf32, #relay.dims<k>>
}

// For static positions the size is a difference; a rule that computes it needs no name.
// CHECK-LABEL: func.func @first_of(
// CHECK-NOT:     relay.extents
// CHECK:         %[[S:.*]] = relay.minimum(%m, %{{.*}})
// CHECK:         relay.dyn.strided_slice(%x, %zero, %{{.*}}, %one) {slice_mode = "size"} : {{.*}} -> tensor<?xf32, #relay.dims<min(m, n)>>
func.func @first_of(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<min(m, n)>> {
  %m = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<m>>) -> tensor<1xi64>
  %zero = relay.constant dense<0> : tensor<1xi64>
  %one = relay.constant dense<1> : tensor<1xi64>
  %z = relay.dyn.strided_slice(%x, %zero, %m, %one) : (tensor<?xf32, #relay.dims<n>>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<min(m, n)>>
  func.return %z : tensor<?xf32, #relay.dims<min(m, n)>>
}

// A range is positions, times the step, from the start on.
// CHECK-LABEL: func.func @range(
// CHECK:         %[[V:.*]] = relay.extents({{.*}}) {relay.binds = #relay.bounds<r>, relay.extent_descriptions = {{.*}}} : (tensor<i64>) -> tensor<i64>
// CHECK:         %[[P:.*]] = relay.arange(%{{.*}}, %[[V]], %{{.*}}) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #relay.dims<r>>
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%[[P]]) {dtype = f32}
// CHECK-NEXT:    %[[M:.*]] = relay.multiply(%[[C]], %c)
// CHECK-NEXT:    relay.add(%a, %[[M]])
func.func @range(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) -> tensor<?xf32, #relay.dims<r>> {
  %y = relay.arange(%a, %b, %c) {relay.binds = #relay.bounds<r>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32, #relay.dims<r>>
  func.return %y : tensor<?xf32, #relay.dims<r>>
}

// In a branch the name is local.
// CHECK-LABEL: func.func @in_branch(
// CHECK-NEXT:    relay.if
// CHECK-NEXT:      relay.extents(%s) {relay.binds = #relay.bounds<e>, relay.extent_descriptions = {{.*}}}
func.func @in_branch(%c: tensor<i1>, %f: tensor<f32>, %s: tensor<1xi64>, %x: tensor<3xf32>) -> tensor<?xf32, #relay.dims<d>> {
  %r = relay.if %c : tensor<i1> -> tensor<?xf32, #relay.dims<d>> attributes {relay.binds = #relay.bounds<d>} {
    %y = relay.dyn.full(%f, %s) {relay.binds = #relay.bounds<e>} : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
    relay.yield %y : tensor<?xf32, #relay.dims<e>>
  } else {
    relay.yield %x : tensor<3xf32>
  }
  func.return %r : tensor<?xf32, #relay.dims<d>>
}

// Ops with known shapes, and kernels, are unchanged.
// CHECK-LABEL: func.func @static(
// CHECK-NOT:     relay.extents
func.func @static(%f: tensor<f32>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %s = relay.shape_of(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %y = relay.dyn.full(%f, %s) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<n>>
  func.return %y : tensor<?xf32, #relay.dims<n>>
}

func.func private @kernel(%f: tensor<f32>, %s: tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>> attributes {relay.primitive} {
  %y = relay.dyn.full(%f, %s) {relay.binds = #relay.bounds<e>} : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
  func.return %y : tensor<?xf32, #relay.dims<e>>
}

// CHECK-LABEL: func.func @sparse_to_dense(
// CHECK-NEXT:    %[[V:.*]] = relay.extents(%s) {relay.binds = #relay.bounds<e>, relay.extent_descriptions = [{is = "extent 0 of relay.dyn.sparse_to_dense", fails = "relay.dyn.sparse_to_dense: element 0 of the shape is {value}"}]} : (tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT:    relay.dyn.sparse_to_dense(%i, %[[V]], %v, %d) : (tensor<3xi64>, tensor<1xi64>, tensor<3xf32>, tensor<f32>) -> tensor<?xf32, #relay.dims<e>>
func.func @sparse_to_dense(%i: tensor<3xi64>, %s: tensor<1xi64>, %v: tensor<3xf32>, %d: tensor<f32>) -> tensor<?xf32, #relay.dims<e>> {
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) {relay.binds = #relay.bounds<e>} : (tensor<3xi64>, tensor<1xi64>, tensor<3xf32>, tensor<f32>) -> tensor<?xf32, #relay.dims<e>>
  func.return %y : tensor<?xf32, #relay.dims<e>>
}
