// RUN: xrelay-opt %s -p relay-infer-type,relay-apply-winograd | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-apply-winograd{tile-size=2} | filecheck %s --check-prefix TWO
// RUN: xrelay-opt %s -p relay-infer-type,relay-apply-winograd --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS
// RUN: not xrelay-opt %s -p relay-apply-winograd{tile-size=3} 2>&1 | filecheck %s --check-prefix ERROR

// ERROR: relay-apply-winograd: tile-size is 3, it must be 0, 2 or 4

// Many tiles use each element of the weight: tiles of 4 x 4 results need the fewest products.
// CHECK-LABEL: func.func @large
// CHECK:         %[[W:.*]] = relay.constant {{.*}} : tensor<1x6x6x16x16xf32>
// CHECK:         relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %[[W]]) {{{.*}}padding = [1, 1, 1, 1]{{.*}}data_layout = "NCHW16c"
// TWO-LABEL: func.func @large
// TWO:         relay.nn.contrib_conv2d_winograd_without_weight_transform({{.*}}tile_size = 2
// SAYS: relay.nn.conv2d: tiles of 4 x 4 results
func.func @large(%x: tensor<1x1x28x28x16xf32>) -> tensor<1x1x28x28x16xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x3x3xf32>
  %v = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16i16o"} : (tensor<16x16x3x3xf32>) -> tensor<1x1x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %v) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x28x28x16xf32>, tensor<1x1x3x3x16x16xf32>) -> tensor<1x1x28x28x16xf32>
  func.return %y : tensor<1x1x28x28x16xf32>
}

// The transformed weight of larger tiles takes more time to read than they save.
// SAYS: relay.nn.conv2d: tiles of 2 x 2 results
func.func @small(%x: tensor<?x4x14x14x16xf32, #relay.dims<n>>) -> tensor<?x4x14x14x16xf32, #relay.dims<n>> {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<?x4x14x14x16xf32, #relay.dims<n>>, tensor<4x4x3x3x16x16xf32>) -> tensor<?x4x14x14x16xf32, #relay.dims<n>>
  func.return %y : tensor<?x4x14x14x16xf32, #relay.dims<n>>
}

// With many channels, the data of few tiles of 4 x 4 fills the cache.
// SAYS: relay.nn.conv2d: tiles of 2 x 2 results
func.func @deep(%x: tensor<1x32x28x28x16xf32>) -> tensor<1x1x28x28x16xf32> {
  %w = relay.constant dense<1.0> : tensor<1x32x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x32x28x28x16xf32>, tensor<1x32x3x3x16x16xf32>) -> tensor<1x1x28x28x16xf32>
  func.return %y : tensor<1x1x28x28x16xf32>
}

// The time to read the weight, which is larger when it is transformed, outweighs the products that are saved.
// SAYS: relay.nn.conv2d: the direct convolution is about as fast
func.func @few_tiles(%x: tensor<1x4x7x7x16xf32>) -> tensor<1x4x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x7x7x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x7x7x16xf32>
  func.return %y : tensor<1x4x7x7x16xf32>
}

// SAYS: relay.nn.conv2d: the direct convolution is about as fast
func.func @tiny(%x: tensor<1x4x3x3x16xf32>) -> tensor<1x4x1x1x16xf32> {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x3x3x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x1x1x16xf32>
  func.return %y : tensor<1x4x1x1x16xf32>
}

// An image of dynamic height or width has tiles of 4 x 4 up to 128 channels. Dimensions have their typical size, or 512.
// SAYS: relay.nn.conv2d: tiles of 4 x 4 results
// SAYS: relay.nn.conv2d: the direct convolution is about as fast
// SAYS: relay.nn.conv2d: the direct convolution is about as fast
// SAYS: relay.nn.conv2d: tiles of 2 x 2 results
// TWO-LABEL: func.func @dynamic
// TWO-COUNT-2: relay.nn.contrib_conv2d_winograd_without_weight_transform({{.*}}tile_size = 2
func.func @dynamic(%x: tensor<1x4x?x?x16xf32, #relay.dims<h, w>>, %y: tensor<1x1x?x?x16xf32, #relay.dims<h, w>>) {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %a = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x?x?x16xf32, #relay.dims<h, w>>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x?x?x16xf32, #relay.dims<h, w>>
  %v = relay.constant dense<1.0> : tensor<1x1x3x3x16x16xf32>
  %b = relay.nn.conv2d(%y, %v) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x?x?x16xf32, #relay.dims<h, w>>, tensor<1x1x3x3x16x16xf32>) -> tensor<1x1x?x?x16xf32, #relay.dims<h, w>>
  func.return
}
func.func @dynamic_and_small(%x: tensor<1x4x?x7x16xf32, #relay.dims<h>>) attributes {relay.sizes = {h = array<i64: 1, 64, 7>}} {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %a = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x?x7x16xf32, #relay.dims<h>>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x?x7x16xf32, #relay.dims<h>>
  func.return
}
func.func @dynamic_and_deep(%x: tensor<1x16x?x28x16xf32, #relay.dims<h>>) {
  %w = relay.constant dense<1.0> : tensor<16x16x3x3x16x16xf32>
  %a = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x16x?x28x16xf32, #relay.dims<h>>, tensor<16x16x3x3x16x16xf32>) -> tensor<1x16x?x28x16xf32, #relay.dims<h>>
  func.return
}

// CHECK-LABEL: func.func @refused
// CHECK-COUNT-4: relay.nn.conv2d(
// SAYS: relay.nn.conv2d: its weight is not constant
// SAYS: relay.nn.conv2d: only filters of 3 x 3 with strides, dilation and groups of 1 have such an algorithm
// SAYS: relay.nn.conv2d: channels are not in blocks of at least 8: NCHW, NCHW
// SAYS: relay.nn.conv2d: its elements are not all f32
func.func @refused(%x: tensor<1x1x28x28x16xf32>, %v: tensor<1x1x3x3x16x16xf32>, %p: tensor<1x16x28x28xf32>, %e: tensor<1x1x28x28x16xf64>) {
  %w = relay.constant dense<1.0> : tensor<1x1x3x3x16x16xf32>
  %a = relay.nn.conv2d(%x, %v) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x28x28x16xf32>, tensor<1x1x3x3x16x16xf32>) -> tensor<1x1x28x28x16xf32>
  %b = relay.nn.conv2d(%x, %w) {strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x28x28x16xf32>, tensor<1x1x3x3x16x16xf32>) -> tensor<1x1x14x14x16xf32>
  %u = relay.constant dense<1.0> : tensor<16x16x3x3xf32>
  %f = relay.nn.conv2d(%p, %u) : (tensor<1x16x28x28xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x26x26xf32>
  %t = relay.constant dense<1.0> : tensor<1x1x3x3x16x16xf64>
  %g = relay.nn.conv2d(%e, %t) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x28x28x16xf64>, tensor<1x1x3x3x16x16xf64>) -> tensor<1x1x26x26x16xf64>
  func.return
}
