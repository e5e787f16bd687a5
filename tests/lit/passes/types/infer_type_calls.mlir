// RUN: xrelay-opt %s -p relay-infer-type --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type --split-input-file | xrelay-opt -p relay-infer-type --split-input-file | filecheck %s

// Names are inferred from the arguments: plain ones first, then those of multiples.
func.func private @f(%x: tensor<?x?xf32, #relay.dims<2 * n + k, k>>, %y: tensor<?xf32, #relay.dims<k>>) -> !relay.incomplete {
  %0 = relay.sum(%x) {axis = [1]} : (tensor<?x?xf32, #relay.dims<2 * n + k, k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
// CHECK-LABEL: @solved(
// CHECK-SAME: -> tensor<10xf32>
func.func @solved(%x: tensor<10x4xf32>, %y: tensor<4xf32>) -> !relay.incomplete {
  // CHECK: relay.call @f<k = 4, n = 3>(%x, %y) : (
  %0 = relay.call @f(%x, %y) : (tensor<10x4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
// CHECK-LABEL: @with_names(
func.func @with_names(%x: tensor<?x?xf32, #relay.dims<6 * m + 4, 4 * m>>, %y: tensor<?xf32, #relay.dims<4 * m>>) -> !relay.incomplete {
  // CHECK: relay.call @f<k = 4 * m, n = m + 2>(%x, %y) : ({{.*}}) -> tensor<?xf32, #relay.dims<6 * m + 4>>
  %0 = relay.call @f(%x, %y) : (tensor<?x?xf32, #relay.dims<6 * m + 4, 4 * m>>, tensor<?xf32, #relay.dims<4 * m>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// Facts that hold at some sizes only are required: divisibility, names that are at least 0, equal extents.
// CHECK-LABEL: @demands(
func.func @demands(%x: tensor<?x?xf32, #relay.dims<m, j>>, %y: tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete {
  // CHECK: relay.call @f<k = j, n = (j + m) floordiv 2 - j>(%x, %y) {relay.requires = #relay.requirements<(j + m) floordiv 2 - j >= 0 "C2 n of @f",
  // CHECK-SAME: m == 2 * ((j + m) floordiv 2) - j "C0 argument extent", p == j "C0 argument extent">}
  %0 = relay.call @f(%x, %y) : (tensor<?x?xf32, #relay.dims<m, j>>, tensor<?xf32, #relay.dims<p>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

// A func.call of a function with names becomes a relay.call; a call of a kernel, or of a function without names, stays.
func.func private @same(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
func.func private @kernel(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {relay.primitive} {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
func.func private @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
// CHECK-LABEL: @becomes(
func.func @becomes(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<4xf32>) {
  // CHECK: relay.call @same<n = n>(%x)
  %0 = func.call @same(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  // CHECK: func.call @kernel(%x)
  %1 = func.call @kernel(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  // CHECK: func.call @plain(%y)
  %2 = func.call @plain(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// An extent that the callee defines has a new name at each call.
func.func private @found(%x: tensor<?xi1, #relay.dims<n>>) -> !relay.incomplete {
  %0 = relay.argwhere(%x) : (tensor<?xi1, #relay.dims<n>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
// CHECK-LABEL: @made(
func.func @made(%x: tensor<7xi1>, %y: tensor<?xi1, #relay.dims<k>>) {
  // CHECK: relay.call @found<n = 7, k = k_1>(%x) {relay.binds = #relay.bounds<k_1 <= 7>} : (tensor<7xi1>) -> tensor<?x1xi32, #relay.dims<k_1>>
  %0 = relay.call @found(%x) : (tensor<7xi1>) -> !relay.incomplete
  // CHECK: relay.call @found<n = k, k = q>(%y) {relay.binds = #relay.bounds<q <= k>} : ({{.*}}) -> tensor<?x1xi32, #relay.dims<q>>
  %1 = relay.call @found(%y) : (tensor<?xi1, #relay.dims<k>>) -> tensor<?x1xi32, #relay.dims<q>>
  func.return
}

// -----

// Requirements of every run of the callee are required of the call, through any number of functions; requirements of a
// single branch are not, nor those that the caller can prove.
func.func private @dense(%x: tensor<?x?xf32, #relay.dims<n, c>>, %w: tensor<?x?xf32, #relay.dims<m, k>>) -> !relay.incomplete {
  %0 = relay.nn.dense(%x, %w) : (tensor<?x?xf32, #relay.dims<n, c>>, tensor<?x?xf32, #relay.dims<m, k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
// CHECK-LABEL: @through(
func.func @through(%x: tensor<4x?xf32, #relay.dims<2 * a>>, %w: tensor<5x?xf32, #relay.dims<b>>) -> !relay.incomplete {
  // CHECK: relay.call @dense<n = 4, c = 2 * a, m = 5, k = b>(%x, %w) {relay.requires = #relay.requirements<2 * a == b "C6 @dense: data's last extent and weight's second differ">}
  %0 = relay.call @dense(%x, %w) : (tensor<4x?xf32, #relay.dims<2 * a>>, tensor<5x?xf32, #relay.dims<b>>) -> !relay.incomplete
  // CHECK: relay.call @dense<n = 4, c = 2 * a, m = 5, k = b>(%x, %w) : (
  %1 = relay.call @dense(%x, %w) : (tensor<4x?xf32, #relay.dims<2 * a>>, tensor<5x?xf32, #relay.dims<b>>) -> !relay.incomplete
  %2 = relay.add(%0, %1) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %2 : !relay.incomplete
}
// CHECK-LABEL: @twice_through(
func.func @twice_through(%x: tensor<4x6xf32>, %w: tensor<5x?xf32, #relay.dims<z>>) -> !relay.incomplete {
  // CHECK: relay.call @through<a = 3, b = z>(%x, %w) {relay.requires = #relay.requirements<6 == z "C6 @dense: data's last extent and weight's second differ">}
  %0 = relay.call @through(%x, %w) : (tensor<4x6xf32>, tensor<5x?xf32, #relay.dims<z>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
// CHECK-LABEL: @branch(
func.func @branch(%c: tensor<i1>, %x: tensor<4x?xf32, #relay.dims<a>>, %w: tensor<4x?xf32, #relay.dims<b>>) -> !relay.incomplete {
  %0 = relay.if %c : tensor<i1> -> !relay.incomplete {
    %1 = relay.call @dense(%x, %w) : (tensor<4x?xf32, #relay.dims<a>>, tensor<4x?xf32, #relay.dims<b>>) -> !relay.incomplete
    relay.yield %1 : !relay.incomplete
  } else {
    relay.yield %x : tensor<4x?xf32, #relay.dims<a>>
  }
  func.return %0 : !relay.incomplete
}
// CHECK-LABEL: @of_branch(
func.func @of_branch(%c: tensor<i1>, %x: tensor<4x2xf32>, %w: tensor<4x3xf32>) -> !relay.incomplete {
  // CHECK: relay.call @branch<a = 2, b = 3, d0 = d0>(%c, %x, %w) {relay.binds = #relay.bounds<d0>} : (
  %0 = relay.call @branch(%c, %x, %w) : (tensor<i1>, tensor<4x2xf32>, tensor<4x3xf32>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

// Neither side gets a name of the other: inferred extents have new names.
// CHECK-LABEL: @first(
// CHECK-SAME: %x: tensor<?xf32, #relay.dims<m_1>>, %y: tensor<?xf32, #relay.dims<m>>)
func.func private @first(%x: !relay.incomplete, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  func.return %x : !relay.incomplete
}
// CHECK-LABEL: @tells(
// CHECK-SAME: %a: tensor<?xf32, #relay.dims<m>>, %b: tensor<?xf32, #relay.dims<d0>>) -> tensor<?xf32, #relay.dims<m>>
func.func @tells(%a: tensor<?xf32, #relay.dims<m>>, %b: !relay.incomplete) -> !relay.incomplete {
  // CHECK: relay.call @first<m_1 = m, m = d0>(%a, %b)
  %0 = relay.call @first(%a, %b) : (tensor<?xf32, #relay.dims<m>>, !relay.incomplete) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

// A name that no argument determines is taken from the text.
func.func private @product(tensor<?xf32, #relay.dims<n * k>>) -> tensor<?xf32, #relay.dims<n>>
// CHECK-LABEL: @written(
func.func @written(%x: tensor<12xf32>) -> tensor<3xf32> {
  // CHECK: relay.call @product<k = 4, n = 3>(%x) : (tensor<12xf32>) -> tensor<3xf32>
  %0 = relay.call @product<k = 4, n = 3>(%x) : (tensor<12xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// -----

// A function without names after inference is called by func.call.
func.func private @untyped(%x: !relay.incomplete) -> !relay.incomplete {
  func.return %x : !relay.incomplete
}
// CHECK-LABEL: @no_names(
func.func @no_names(%x: tensor<3xf32>) -> !relay.incomplete {
  // CHECK: func.call @untyped(%x) {note = "kept"} : (tensor<3xf32>) -> tensor<3xf32>
  %0 = relay.call @untyped(%x) {note = "kept"} : (tensor<3xf32>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

// A name that only the results have is the extent of a branch's result: here of a recursion whose result grows.
// CHECK-LABEL: @twice(
func.func @twice(%go: tensor<i1>, %stop: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<k>> {
  // CHECK: relay.if %go : tensor<i1> -> tensor<?xf32, #relay.dims<k>> attributes {relay.binds = #relay.bounds<k>} {
  %r = relay.if %go : tensor<i1> -> tensor<?xf32, #relay.dims<k>> {
    // CHECK-NEXT: relay.call @twice<n = n, k = k_1>(%stop, %stop, %x) {relay.binds = #relay.bounds<k_1>}
    %y = relay.call @twice(%stop, %stop, %x) : (tensor<i1>, tensor<i1>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
    %t = relay.tuple(%y, %y) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
    %z = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
    relay.yield %z : !relay.incomplete
  } else {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  }
  func.return %r : tensor<?xf32, #relay.dims<k>>
}

// A kernel that was outlined with unknown extents: its names are independent of the caller's.
// CHECK-LABEL: func.func @kernels
// CHECK:         relay.dyn.topk(%x, %k) {{.*}}relay.binds = #relay.bounds<k <= 6>
// CHECK:         relay.call @longest<e = e, k = k_1>(%{{.*}}, %k) {relay.binds = #relay.bounds<k_1 <= e>}
func.func @kernels(%x: tensor<6xf32>, %k: tensor<i64>, %r: tensor<1xi64>) -> !relay.incomplete {
  %a = relay.dyn.topk(%x, %k) {ret_type = "values"} : (tensor<6xf32>, tensor<i64>) -> !relay.incomplete
  %b = relay.dyn.tile(%a, %r) : (!relay.incomplete, tensor<1xi64>) -> !relay.incomplete
  %c = func.call @longest(%b, %k) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  func.return %c : !relay.incomplete
}
func.func private @longest(%p0: !relay.incomplete, %p1: tensor<i64>) -> !relay.incomplete attributes {relay.primitive} {
  %y = relay.dyn.topk(%p0, %p1) {ret_type = "values"} : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
