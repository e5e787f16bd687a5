// RUN: xrelay-opt %s -p relay-infer-type,relay-split-convolutions{tiles=tdpbusd,tdpbf16ps} | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-convolutions{tiles=tdpbf16ps} --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-convolutions{tiles=tdpbusd} | filecheck %s --check-prefix OTHER
// RUN: xrelay-opt %s -p 'relay-infer-type,relay-split-convolutions{tiles=tdpbf16ps vector-lanes=8}' | filecheck %s --check-prefix OTHER

// OTHER-NOT: contrib_conv2d_split

// The 48 channels of each part of the filters are filled up to 64.
// CHECK-LABEL: func.func @filters
// CHECK:         %[[W:.*]] = relay.constant {{.*}} : tensor<12x64x5x5x16x2xbf16>
// CHECK:         relay.nn.contrib_conv2d_split(%x, %[[W]]) {strides = [2, 2], padding = [2, 2, 2, 2], data_layout = "NCHW16c", kernel_layout = "OIHW16o2i", out_layout = "NCHW16c"}
// SAYS: relay.nn.conv2d: three products of bf16 parts
func.func @filters(%x: tensor<1x3x28x28x16xf32>) -> tensor<1x12x14x14x16xf32> {
  %w = relay.constant dense<1.0> : tensor<192x48x5x5xf32>
  %v = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16i16o"} : (tensor<192x48x5x5xf32>) -> tensor<12x3x5x5x16x16xf32>
  %y = relay.nn.conv2d(%x, %v) {strides = [2, 2], padding = [2, 2, 2, 2], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x3x28x28x16xf32>, tensor<12x3x5x5x16x16xf32>) -> tensor<1x12x14x14x16xf32>
  func.return %y : tensor<1x12x14x14x16xf32>
}

// Tiles take less time than Winograd's algorithm, unless they are half empty.
// SAYS: relay.nn.conv2d: three products of bf16 parts
func.func @three(%x: tensor<1x4x28x28x16xf32>) -> tensor<1x4x28x28x16xf32> {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x28x28x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x28x28x16xf32>
  func.return %y : tensor<1x4x28x28x16xf32>
}

// SAYS: relay.nn.conv2d: the convolution in f32 is about as fast
func.func @half_empty(%x: tensor<1x1x28x28x16xf32>) -> tensor<1x4x28x28x16xf32> {
  %w = relay.constant dense<1.0> : tensor<4x1x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x28x28x16xf32>, tensor<4x1x3x3x16x16xf32>) -> tensor<1x4x28x28x16xf32>
  func.return %y : tensor<1x4x28x28x16xf32>
}

// SAYS: relay.nn.conv2d: rows of 3 columns are too short for tiles, or cannot be divided into them
func.func @short(%x: tensor<1x4x5x5x16xf32>) -> tensor<1x4x3x3x16xf32> {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x5x5x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x3x3x16xf32>
  func.return %y : tensor<1x4x3x3x16xf32>
}

// SAYS: relay.nn.conv2d: filters of 1 x 1 on rows that fill less than half of a tile are a product of matrices
func.func @pixels(%x: tensor<1x32x7x7x16xf32>) -> tensor<1x32x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x32x7x7x16xf32>, tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x7x7x16xf32>
  func.return %y : tensor<1x32x7x7x16xf32>
}

// SAYS: relay.nn.conv2d: other filters of 1 x 1 read its data: the parts of its pixels are shared
// SAYS: relay.nn.conv2d: other filters of 1 x 1 read its data: the parts of its pixels are shared
// SAYS: relay.nn.conv2d: three products of bf16 parts
func.func @shared(%x: tensor<1x4x28x28x16xf32>) {
  %v = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %w = relay.constant dense<1.0> : tensor<16x4x1x1x16x16xf32>
  %0 = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x28x28x16xf32>, tensor<16x4x1x1x16x16xf32>) -> tensor<1x16x28x28x16xf32>
  %1 = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x28x28x16xf32>, tensor<16x4x1x1x16x16xf32>) -> tensor<1x16x28x28x16xf32>
  %2 = relay.nn.conv2d(%x, %v) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x28x28x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x26x26x16xf32>
  func.return
}

// The size of the image may be dynamic. Other filters then read the data, too: there is no product of matrices for them.
// CHECK-LABEL: func.func @dynamic
// CHECK:         relay.nn.contrib_conv2d_split({{.*}} -> tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>
// CHECK:         relay.nn.contrib_conv2d_split({{.*}} -> tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>
// CHECK:         relay.nn.contrib_conv2d_split({{.*}} -> tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>
// SAYS: relay.nn.conv2d: three products of bf16 parts
// SAYS: relay.nn.conv2d: three products of bf16 parts
// SAYS: relay.nn.conv2d: three products of bf16 parts
// SAYS: relay.nn.conv2d: the number of its channels is not known
func.func @dynamic(%x: tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>, %t: tensor<1x?x28x28x16xf32, #relay.dims<c>>) {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %v = relay.constant dense<1.0> : tensor<4x4x1x1x16x16xf32>
  %0 = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>, tensor<4x4x3x3x16x16xf32>) -> tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>
  %1 = relay.nn.conv2d(%x, %v) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>, tensor<4x4x1x1x16x16xf32>) -> tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>
  %2 = relay.nn.conv2d(%x, %v) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>, tensor<4x4x1x1x16x16xf32>) -> tensor<?x4x?x?x16xf32, #relay.dims<n, h, w>>
  %3 = relay.nn.conv2d(%t, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x?x28x28x16xf32, #relay.dims<c>>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x28x28x16xf32>
  func.return
}

// SAYS: relay.nn.conv2d: it has groups, or channels that are not in blocks of 16: NCHW, NCHW
// SAYS: relay.nn.conv2d: its weight is not constant
// SAYS: relay.nn.conv2d: its elements are not all f32
func.func @refused(%x: tensor<1x64x28x28xf32>, %b: tensor<1x4x28x28x16xf32>, %d: tensor<1x4x28x28x16xf64>, %p: tensor<4x4x3x3x16x16xf32>) {
  %w = relay.constant dense<1.0> : tensor<64x64x3x3xf32>
  %v = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf64>
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x26x26xf32>
  %1 = relay.nn.conv2d(%b, %p) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x28x28x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x26x26x16xf32>
  %2 = relay.nn.conv2d(%d, %v) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x28x28x16xf64>, tensor<4x4x3x3x16x16xf64>) -> tensor<1x4x26x26x16xf64>
  func.return
}

// CHECK-LABEL: func.func @energies
// CHECK-NOT:     contrib_conv2d_split
// SAYS: relay.nn.conv2d: its result becomes the operand of a logarithm
func.func @energies(%x: tensor<1x8x14x14x16xf32>) -> tensor<1x8x14x14x16xf32> {
  %w = relay.constant dense<1.0> : tensor<8x8x3x3x16x16xf32>
  %s = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x8x14x14x16xf32>, tensor<8x8x3x3x16x16xf32>) -> tensor<1x8x14x14x16xf32>
  %p = relay.abs(%s) : (tensor<1x8x14x14x16xf32>) -> tensor<1x8x14x14x16xf32>
  %y = relay.log(%p) : (tensor<1x8x14x14x16xf32>) -> tensor<1x8x14x14x16xf32>
  func.return %y : tensor<1x8x14x14x16xf32>
}
