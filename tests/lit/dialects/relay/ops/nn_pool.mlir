// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @max_pool2d(
func.func @max_pool2d(%x: tensor<1x8x6x6xf32>) {
  // CHECK: %r = relay.nn.max_pool2d(%x) {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  %r = relay.nn.max_pool2d(%x) {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  func.return
}

// CHECK-LABEL: @max_pool2d_all(
func.func @max_pool2d_all(%x: tensor<1x6x6x8xf32>) {
  // CHECK: %r = relay.nn.max_pool2d(%x) {pool_size = [3, 2], strides = [2, 2], dilation = [1, 2], padding = [1, 1, 0, 2], layout = "NHWC", ceil_mode = true} : (tensor<1x6x6x8xf32>) -> tensor<1x3x4x8xf32>
  %r = relay.nn.max_pool2d(%x) {pool_size = [3, 2], strides = [2, 2], dilation = [1, 2], padding = [1, 1, 0, 2], layout = "NHWC", ceil_mode = true} : (tensor<1x6x6x8xf32>) -> tensor<1x3x4x8xf32>
  func.return
}

// CHECK-LABEL: @avg_pool2d(
func.func @avg_pool2d(%x: tensor<1x8x6x6xf32>) {
  // CHECK: %r = relay.nn.avg_pool2d(%x) {pool_size = [3, 3], padding = [1, 1, 1, 1], count_include_pad = true} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %r = relay.nn.avg_pool2d(%x) {pool_size = [3, 3], padding = [1, 1, 1, 1], count_include_pad = true} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  func.return
}

// CHECK-LABEL: @avg_pool2d_blocked(
func.func @avg_pool2d_blocked(%x: tensor<1x2x6x6x4xf32>) {
  // CHECK: %r = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [2, 2], layout = "NCHW4c"} : (tensor<1x2x6x6x4xf32>) -> tensor<1x2x3x3x4xf32>
  %r = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [2, 2], layout = "NCHW4c"} : (tensor<1x2x6x6x4xf32>) -> tensor<1x2x3x3x4xf32>
  func.return
}

// CHECK-LABEL: @global_avg_pool2d(
func.func @global_avg_pool2d(%x: tensor<1x8x6x6xf32>) {
  // CHECK: %r = relay.nn.global_avg_pool2d(%x) : (tensor<1x8x6x6xf32>) -> tensor<1x8x1x1xf32>
  %r = relay.nn.global_avg_pool2d(%x) : (tensor<1x8x6x6xf32>) -> tensor<1x8x1x1xf32>
  func.return
}

// CHECK-LABEL: @global_max_pool2d(
func.func @global_max_pool2d(%x: tensor<1x6x6x8xf32>) {
  // CHECK: %r = relay.nn.global_max_pool2d(%x) {layout = "NHWC"} : (tensor<1x6x6x8xf32>) -> tensor<1x1x1x8xf32>
  %r = relay.nn.global_max_pool2d(%x) {layout = "NHWC"} : (tensor<1x6x6x8xf32>) -> tensor<1x1x1x8xf32>
  func.return
}

// Pools over other numbers of spatial axes have the same properties, with their own defaults.
// CHECK-LABEL: @max_pool1d(
func.func @max_pool1d(%x: tensor<1x8x7xf32>) {
  // CHECK: %r = relay.nn.max_pool1d(%x) {pool_size = [3], strides = [2], padding = [1], ceil_mode = true} : (tensor<1x8x7xf32>) -> tensor<1x8x4xf32>
  %r = relay.nn.max_pool1d(%x) {pool_size = [3], strides = [2], padding = [1], ceil_mode = true} : (tensor<1x8x7xf32>) -> tensor<1x8x4xf32>
  func.return
}

// CHECK-LABEL: @max_pool1d_last(
func.func @max_pool1d_last(%x: tensor<1x7x8xf32>) {
  // CHECK: %r = relay.nn.max_pool1d(%x) {pool_size = [3], dilation = [2], layout = "NWC"} : (tensor<1x7x8xf32>) -> tensor<1x3x8xf32>
  %r = relay.nn.max_pool1d(%x) {pool_size = [3], dilation = [2], layout = "NWC"} : (tensor<1x7x8xf32>) -> tensor<1x3x8xf32>
  func.return
}

// CHECK-LABEL: @max_pool3d(
func.func @max_pool3d(%x: tensor<1x8x5x6x7xf32>) {
  // CHECK: %r = relay.nn.max_pool3d(%x) {pool_size = [2, 2, 2], strides = [2, 2, 2], padding = [0, 0, 0, 1, 0, 1]} : (tensor<1x8x5x6x7xf32>) -> tensor<1x8x3x3x4xf32>
  %r = relay.nn.max_pool3d(%x) {pool_size = [2, 2, 2], strides = [2, 2, 2], padding = [0, 0, 0, 1, 0, 1]} : (tensor<1x8x5x6x7xf32>) -> tensor<1x8x3x3x4xf32>
  func.return
}

// CHECK-LABEL: @avg_pool1d(
func.func @avg_pool1d(%x: tensor<1x8x7xf32>) {
  // CHECK: %r = relay.nn.avg_pool1d(%x) {pool_size = [2], padding = [1, 0], count_include_pad = true} : (tensor<1x8x7xf32>) -> tensor<1x8x7xf32>
  %r = relay.nn.avg_pool1d(%x) {pool_size = [2], padding = [1, 0], count_include_pad = true} : (tensor<1x8x7xf32>) -> tensor<1x8x7xf32>
  func.return
}

// CHECK-LABEL: @avg_pool3d(
func.func @avg_pool3d(%x: tensor<1x5x6x7x8xf32>) {
  // CHECK: %r = relay.nn.avg_pool3d(%x) {pool_size = [2], layout = "NDHWC"} : (tensor<1x5x6x7x8xf32>) -> tensor<1x4x5x6x8xf32>
  %r = relay.nn.avg_pool3d(%x) {pool_size = [2], layout = "NDHWC"} : (tensor<1x5x6x7x8xf32>) -> tensor<1x4x5x6x8xf32>
  func.return
}

// CHECK-LABEL: @global_avg_pool1d(
func.func @global_avg_pool1d(%x: tensor<1x8x7xf32>) {
  // CHECK: %r = relay.nn.global_avg_pool1d(%x) : (tensor<1x8x7xf32>) -> tensor<1x8x1xf32>
  %r = relay.nn.global_avg_pool1d(%x) : (tensor<1x8x7xf32>) -> tensor<1x8x1xf32>
  func.return
}

// CHECK-LABEL: @global_avg_pool3d(
func.func @global_avg_pool3d(%x: tensor<1x2x5x6x7x4xf32>) {
  // CHECK: %r = relay.nn.global_avg_pool3d(%x) {layout = "NCDHW4c"} : (tensor<1x2x5x6x7x4xf32>) -> tensor<1x2x1x1x1x4xf32>
  %r = relay.nn.global_avg_pool3d(%x) {layout = "NCDHW4c"} : (tensor<1x2x5x6x7x4xf32>) -> tensor<1x2x1x1x1x4xf32>
  func.return
}

// CHECK-LABEL: @global_max_pool1d(
func.func @global_max_pool1d(%x: tensor<1x7x8xf32>) {
  // CHECK: %r = relay.nn.global_max_pool1d(%x) {layout = "NWC"} : (tensor<1x7x8xf32>) -> tensor<1x1x8xf32>
  %r = relay.nn.global_max_pool1d(%x) {layout = "NWC"} : (tensor<1x7x8xf32>) -> tensor<1x1x8xf32>
  func.return
}

// CHECK-LABEL: @global_max_pool3d(
func.func @global_max_pool3d(%x: tensor<1x8x5x6x7xf32>) {
  // CHECK: %r = relay.nn.global_max_pool3d(%x) : (tensor<1x8x5x6x7xf32>) -> tensor<1x8x1x1x1xf32>
  %r = relay.nn.global_max_pool3d(%x) : (tensor<1x8x5x6x7xf32>) -> tensor<1x8x1x1x1xf32>
  func.return
}

// CHECK-LABEL: @named_extents(
func.func @named_extents(%x: tensor<?x8x?xf32, #relay.dims<n, w>>) {
  // CHECK: %r = relay.nn.max_pool1d(%x) {pool_size = [3], strides = [2], padding = [1, 1]} : (tensor<?x8x?xf32, #relay.dims<n, w>>) -> tensor<?x8x?xf32, #relay.dims<n, (w + 1) floordiv 2>>
  %r = relay.nn.max_pool1d(%x) {pool_size = [3], strides = [2], padding = [1, 1]} : (tensor<?x8x?xf32, #relay.dims<n, w>>) -> tensor<?x8x?xf32, #relay.dims<n, (w + 1) floordiv 2>>
  func.return
}

// CHECK-LABEL: @max_pool1d_indices(
func.func @max_pool1d_indices(%x: tensor<1x8x7xf32>) {
  // CHECK: %r = relay.nn.max_pool1d_indices(%x) {pool_size = [3], strides = [2]} : (tensor<1x8x7xf32>) -> tensor<1x8x3xi64>
  %r = relay.nn.max_pool1d_indices(%x) {pool_size = [3], strides = [2]} : (tensor<1x8x7xf32>) -> tensor<1x8x3xi64>
  func.return
}

// CHECK-LABEL: @max_pool2d_grad(
func.func @max_pool2d_grad(%g: tensor<1x3x3x8xf32>, %x: tensor<1x8x6x7xf32>) {
  // CHECK: %r = relay.nn.max_pool2d_grad(%g, %x) {pool_size = [2, 3], strides = [2, 2], out_layout = "NHWC"} : (tensor<1x3x3x8xf32>, tensor<1x8x6x7xf32>) -> tensor<1x8x6x7xf32>
  %r = relay.nn.max_pool2d_grad(%g, %x) {pool_size = [2, 3], strides = [2, 2], out_layout = "NHWC"} : (tensor<1x3x3x8xf32>, tensor<1x8x6x7xf32>) -> tensor<1x8x6x7xf32>
  func.return
}

// CHECK-LABEL: @avg_pool2d_grad(
func.func @avg_pool2d_grad(%g: tensor<1x8x3x4xf32>, %x: tensor<1x8x6x7xf32>) {
  // CHECK: %r = relay.nn.avg_pool2d_grad(%g, %x) {pool_size = [2, 2], strides = [2, 2], ceil_mode = true, count_include_pad = true} : (tensor<1x8x3x4xf32>, tensor<1x8x6x7xf32>) -> tensor<1x8x6x7xf32>
  %r = relay.nn.avg_pool2d_grad(%g, %x) {pool_size = [2, 2], strides = [2, 2], ceil_mode = true, count_include_pad = true} : (tensor<1x8x3x4xf32>, tensor<1x8x6x7xf32>) -> tensor<1x8x6x7xf32>
  func.return
}

// CHECK-LABEL: @max_pool2d_indices(
func.func @max_pool2d_indices(%x: tensor<1x6x7x8xf32>) {
  // CHECK: %r = relay.nn.max_pool2d_indices(%x) {pool_size = [2, 3], padding = [1, 1, 1, 1], layout = "NHWC", ceil_mode = true, column_major = true} : (tensor<1x6x7x8xf32>) -> tensor<1x7x7x8xi64>
  %r = relay.nn.max_pool2d_indices(%x) {pool_size = [2, 3], padding = [1, 1, 1, 1], layout = "NHWC", ceil_mode = true, column_major = true} : (tensor<1x6x7x8xf32>) -> tensor<1x7x7x8xi64>
  func.return
}

// CHECK-LABEL: @max_pool3d_indices(
func.func @max_pool3d_indices(%x: tensor<1x8x5x6x7xf32>) {
  // CHECK: %r = relay.nn.max_pool3d_indices(%x) {pool_size = [2, 2, 2]} : (tensor<1x8x5x6x7xf32>) -> tensor<1x8x4x5x6xi64>
  %r = relay.nn.max_pool3d_indices(%x) {pool_size = [2, 2, 2]} : (tensor<1x8x5x6x7xf32>) -> tensor<1x8x4x5x6xi64>
  func.return
}
