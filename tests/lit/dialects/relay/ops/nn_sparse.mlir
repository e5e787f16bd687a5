// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @csr(
func.func @csr(%x: tensor<2x8xf32>, %v: tensor<5xf32>, %i: tensor<5xi32>, %p: tensor<4xi64>) {
  // CHECK: relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<2x8xf32>, tensor<5xf32>, tensor<5xi32>, tensor<4xi64>) -> tensor<2x3xf32>
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) {sparse_lhs = false} : (tensor<2x8xf32>, tensor<5xf32>, tensor<5xi32>, tensor<4xi64>) -> tensor<2x3xf32>
  // CHECK: relay.nn.sparse_dense(%x, %v, %i, %p) {sparse_lhs = true} : ({{.*}}) -> tensor<3x2xf32>
  %z = relay.nn.sparse_dense(%x, %v, %i, %p) {sparse_lhs = true} : (tensor<2x8xf32>, tensor<5xf32>, tensor<5xi32>, tensor<4xi64>) -> tensor<3x2xf32>
  // CHECK: relay.nn.sparse_transpose(%v, %i, %p) : (tensor<5xf32>, tensor<5xi32>, tensor<4xi64>) -> tuple<tensor<5xf32>, tensor<5xi32>, tensor<4xi64>>
  %t = relay.nn.sparse_transpose(%v, %i, %p) : (tensor<5xf32>, tensor<5xi32>, tensor<4xi64>) -> tuple<tensor<5xf32>, tensor<5xi32>, tensor<4xi64>>
  func.return
}

// CHECK-LABEL: @add(
func.func @add(%x: tensor<3x8xbf16>, %v: tensor<5xbf16>, %i: tensor<5xi32>, %p: tensor<4xi64>) {
  // CHECK: relay.nn.sparse_add(%x, %v, %i, %p) : (tensor<3x8xbf16>, tensor<5xbf16>, tensor<5xi32>, tensor<4xi64>) -> tensor<3x8xbf16>
  %y = relay.nn.sparse_add(%x, %v, %i, %p) : (tensor<3x8xbf16>, tensor<5xbf16>, tensor<5xi32>, tensor<4xi64>) -> tensor<3x8xbf16>
  func.return
}

// The numbers of blocks and of rows may be dynamic.
// CHECK-LABEL: @bsr(
func.func @bsr(%x: tensor<?x8xf32, #relay.dims<m>>, %v: tensor<?x16x2xf32, #relay.dims<k>>, %i: tensor<?xi32, #relay.dims<k>>, %p: tensor<?xi32, #relay.dims<n + 1>>) {
  // CHECK: relay.nn.sparse_dense({{.*}} -> tensor<?x?xf32, #relay.dims<m, 16 * n>>
  %y = relay.nn.sparse_dense(%x, %v, %i, %p) : (tensor<?x8xf32, #relay.dims<m>>, tensor<?x16x2xf32, #relay.dims<k>>, tensor<?xi32, #relay.dims<k>>, tensor<?xi32, #relay.dims<n + 1>>) -> tensor<?x?xf32, #relay.dims<m, 16 * n>>
  func.return
}

// CHECK-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x9x9x16xf32>, %c: tensor<1x8x9x16xf32>, %v: tensor<20x8xf32>, %w: tensor<20x8x4xf32>, %i: tensor<20xi32>, %p: tensor<3xi32>) {
  // CHECK: relay.nn.sparse_conv2d(%x, %v, %i, %p) : ({{.*}}) -> tensor<1x9x9x16xf32>
  %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {layout = "NHWC", kernel_size = [1, 1]} : (tensor<1x9x9x16xf32>, tensor<20x8xf32>, tensor<20xi32>, tensor<3xi32>) -> tensor<1x9x9x16xf32>
  // CHECK: relay.nn.sparse_conv2d(%c, %w, %i, %p) {layout = "NCHW", kernel_size = [3, 3]} : ({{.*}}) -> tensor<1x16x9x16xf32>
  %z = relay.nn.sparse_conv2d(%c, %w, %i, %p) {layout = "NCHW", kernel_size = [3, 3]} : (tensor<1x8x9x16xf32>, tensor<20x8x4xf32>, tensor<20xi32>, tensor<3xi32>) -> tensor<1x16x9x16xf32>
  func.return
}
