// RUN: xrelay-opt %s -p relay-alter-op-layout | filecheck %s
// RUN: xrelay-opt %s -p "relay-alter-op-layout{vector-lanes=8}" | filecheck %s --check-prefix=LANES8
// RUN: xrelay-opt %s -p relay-alter-op-layout,relay-alter-op-layout | filecheck %s

// Between two convolutions there is no transform; an image of 3 channels is one block; at height
// and width 1 the blocks of channels are in order, so that a flatten needs no transform.
// CHECK-LABEL: func.func @network
// CHECK-NEXT:    %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW3c"} : (tensor<1x3x8x8xf32>) -> tensor<1x1x8x8x3xf32>
// CHECK:         relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW3i16o"}
// CHECK:         %[[V:.*]] = relay.layout_transform(%v) {src_layout = "OIHW", dst_layout = "OIHW16i16o"}
// CHECK:         %[[C:.*]] = relay.nn.conv2d(%[[X]], {{.*}}data_layout = "NCHW3c", kernel_layout = "OIHW3i16o", out_layout = "NCHW16c"
// CHECK-NEXT:    %[[B1:.*]] = relay.expand_dims(%b) {axis = 0}
// CHECK-NEXT:    %[[B:.*]] = relay.layout_transform(%[[B1]]) {src_layout = "NCHW", dst_layout = "NCHW16c"} : (tensor<1x32x1x1xf32>) -> tensor<1x2x1x1x16xf32>
// CHECK-NEXT:    %[[D:.*]] = relay.add(%[[C]], %[[B]])
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[D]])
// CHECK-NEXT:    %[[E:.*]] = relay.nn.conv2d(%[[R]], %[[V]])
// CHECK-NEXT:    %[[S:.*]] = relay.add(%[[E]], %[[R]])
// CHECK-NEXT:    %[[P:.*]] = relay.nn.global_avg_pool2d(%[[S]]) {layout = "NCHW16c"}
// CHECK-NEXT:    %[[Q:.*]] = relay.reshape(%[[P]]) {newshape = [1, 32]} : (tensor<1x2x1x1x16xf32>) -> tensor<1x32xf32>
// CHECK-NEXT:    func.return %[[Q]]
// LANES8-LABEL: func.func @network
// LANES8:         data_layout = "NCHW3c", kernel_layout = "OIHW3i8o", out_layout = "NCHW8c"
func.func @network(%x: tensor<1x3x8x8xf32>) -> tensor<1x32xf32> {
  %w = relay.constant dense<1.0> : tensor<32x3x3x3xf32>
  %v = relay.constant dense<1.0> : tensor<32x32x1x1xf32>
  %b = relay.constant dense<1.0> : tensor<32x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x8x8xf32>
  %d = relay.add(%c, %b) : (tensor<1x32x8x8xf32>, tensor<32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %r = relay.nn.relu(%d) : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %e = relay.nn.conv2d(%r, %v) : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %s = relay.add(%e, %r) : (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %p = relay.nn.global_avg_pool2d(%s) : (tensor<1x32x8x8xf32>) -> tensor<1x32x1x1xf32>
  %f = relay.nn.batch_flatten(%p) : (tensor<1x32x1x1xf32>) -> tensor<1x32xf32>
  func.return %f : tensor<1x32xf32>
}

// Depthwise: each channel separately. A block of half a vector if no whole one divides the channels.
// CHECK-LABEL: func.func @depthwise
// CHECK:         groups = 32, data_layout = "NCHW16c", kernel_layout = "OIHW1i16o"
// CHECK:         data_layout = "NCHW16c", kernel_layout = "OIHW16i8o", out_layout = "NCHW8c"
func.func @depthwise(%x: tensor<1x32x8x8xf32>) -> tensor<1x40x8x8xf32> {
  %w = relay.constant dense<1.0> : tensor<32x1x1x1xf32>
  %v = relay.constant dense<1.0> : tensor<40x32x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {groups = 32} : (tensor<1x32x8x8xf32>, tensor<32x1x1x1xf32>) -> tensor<1x32x8x8xf32>
  %d = relay.nn.conv2d(%c, %v) : (tensor<1x32x8x8xf32>, tensor<40x32x1x1xf32>) -> tensor<1x40x8x8xf32>
  func.return %d : tensor<1x40x8x8xf32>
}

// Each group of a grouped convolution consists of whole blocks.
// CHECK-LABEL: func.func @grouped
// CHECK:         groups = 2, data_layout = "NCHW4c", kernel_layout = "OIHW4i16o", out_layout = "NCHW16c"
func.func @grouped(%x: tensor<1x8x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %w = relay.constant dense<1.0> : tensor<32x4x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {groups = 2} : (tensor<1x8x8x8xf32>, tensor<32x4x1x1xf32>) -> tensor<1x32x8x8xf32>
  func.return %c : tensor<1x32x8x8xf32>
}

// Filters of one pixel stay plain if a group has half a vector of them, unless the image has few pixels.
// CHECK-LABEL: func.func @half_blocks
// CHECK:         relay.nn.conv2d(%x, %{{.*}}) {groups = 2} :
// CHECK-LABEL: func.func @half_blocks_of_few_pixels
// CHECK:         groups = 2, data_layout = "NCHW4c", kernel_layout = "OIHW4i8o", out_layout = "NCHW8c"
func.func @half_blocks(%x: tensor<1x8x7x7xf32>) -> tensor<1x16x7x7xf32> {
  %w = relay.constant dense<1.0> : tensor<16x4x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {groups = 2} : (tensor<1x8x7x7xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x7x7xf32>
  func.return %c : tensor<1x16x7x7xf32>
}
func.func @half_blocks_of_few_pixels(%x: tensor<1x8x3x3xf32>) -> tensor<1x16x3x3xf32> {
  %w = relay.constant dense<1.0> : tensor<16x4x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {groups = 2} : (tensor<1x8x3x3xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x3x3xf32>
  func.return %c : tensor<1x16x3x3xf32>
}

// A constant matrix is packed like a dense layer's weight. Left alone: a run-time weight, a weight whose columns no
// vector divides, and products with a transposed left operand.
// CHECK-LABEL: func.func @products
// CHECK:         %[[W:.*]] = relay.layout_transform(%w) {src_layout = "CN", dst_layout = "NC16n"} : (tensor<8x32xf32>) -> tensor<2x8x16xf32>
// CHECK:         relay.nn.contrib_dense_pack(%x, %[[W]]) {weight_layout = "NC16n"} : (tensor<4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x32xf32>
// CHECK:         relay.nn.matmul(%x, %v)
// CHECK:         relay.nn.matmul(%x, %u)
// CHECK:         relay.nn.matmul(%y, %w) {transpose_a = true}
func.func @products(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>, %v: tensor<8x32xf32>)
    -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x7xf32>, tensor<4x32xf32>) {
  %w = relay.constant dense<1.0> : tensor<8x32xf32>
  %u = relay.constant dense<1.0> : tensor<8x7xf32>
  %a = relay.nn.matmul(%x, %w) : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %b = relay.nn.matmul(%x, %v) : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %c = relay.nn.matmul(%x, %u) : (tensor<4x8xf32>, tensor<8x7xf32>) -> tensor<4x7xf32>
  %d = relay.nn.matmul(%y, %w) {transpose_a = true} : (tensor<8x4xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  func.return %a, %b, %c, %d : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x7xf32>, tensor<4x32xf32>
}

// Fields of a tuple are concatenated in blocks; an existing transform cancels.
// CHECK-LABEL: func.func @joined
// CHECK:         %[[T:.*]] = relay.tuple(%{{.*}}, %{{.*}}) : (tensor<1x1x8x8x16xf32>, tensor<1x1x8x8x16xf32>)
// CHECK-NEXT:    %[[J:.*]] = relay.concatenate(%[[T]]) {axis = 1} : {{.*}} -> tensor<1x2x8x8x16xf32>
// CHECK-NEXT:    func.return %[[J]]
func.func @joined(%x: tensor<1x16x8x8xf32>) -> tensor<1x2x8x8x16xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %t = relay.tuple(%c, %x) : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>
  %j = relay.concatenate(%t) {axis = 1} : (tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>) -> tensor<1x32x8x8xf32>
  %b = relay.layout_transform(%j) {src_layout = "NCHW", dst_layout = "NCHW16c"} : (tensor<1x32x8x8xf32>) -> tensor<1x2x8x8x16xf32>
  func.return %b : tensor<1x2x8x8x16xf32>
}

// 32-bit integers, as in quantised networks, fill vectors like floats.
// CHECK-LABEL: func.func @integers
// CHECK:         %[[W:.*]] = relay.layout_transform({{.*}}) {src_layout = "OIHW", dst_layout = "OIHW16i16o"}
// CHECK:         relay.nn.conv2d({{.*}}, %[[W]]) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}
func.func @integers(%x: tensor<1x16x8x8xi32>) -> tensor<1x16x8x8xi32> {
  %w = relay.constant dense<1> : tensor<16x16x1x1xi32>
  %y = relay.nn.conv2d(%x, %w) : (tensor<1x16x8x8xi32>, tensor<16x16x1x1xi32>) -> tensor<1x16x8x8xi32>
  func.return %y : tensor<1x16x8x8xi32>
}

// Rejected: a computed weight, channels that no vector divides, 64-bit integers.
// CHECK-LABEL: func.func @refused
// CHECK-NOT:     relay.layout_transform
// CHECK:         func.return
func.func @refused(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x1x1xf32>, %i: tensor<1x16x8x8xi64>) -> (tensor<1x16x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x16x8x8xi64>) {
  %v = relay.constant dense<1.0> : tensor<3x16x1x1xf32>
  %u = relay.constant dense<1> : tensor<16x16x1x1xi64>
  %e = relay.exp(%w) : (tensor<16x16x1x1xf32>) -> tensor<16x16x1x1xf32>
  %a = relay.nn.conv2d(%x, %e) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %b = relay.nn.conv2d(%a, %v) : (tensor<1x16x8x8xf32>, tensor<3x16x1x1xf32>) -> tensor<1x3x8x8xf32>
  %c = relay.nn.conv2d(%i, %u) : (tensor<1x16x8x8xi64>, tensor<16x16x1x1xi64>) -> tensor<1x16x8x8xi64>
  func.return %a, %b, %c : tensor<1x16x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x16x8x8xi64>
}

// A dense layer gets a packed weight, unless its units are fewer than a vector and no part of a vector divides them.
// CHECK-LABEL: func.func @dense
// CHECK:         %[[W:.*]] = relay.layout_transform(%w) {src_layout = "NC", dst_layout = "NC16n"} : (tensor<40x4xf32>) -> tensor<3x4x16xf32>
// CHECK:         %[[Y:.*]] = relay.nn.contrib_dense_pack(%x, %[[W]])
// CHECK-NEXT:    relay.nn.dense(%[[Y]], %v)
func.func @dense(%x: tensor<1x4xf32>) -> tensor<1x5xf32> {
  %w = relay.constant dense<1.0> : tensor<40x4xf32>
  %v = relay.constant dense<1.0> : tensor<5x40xf32>
  %y = relay.nn.dense(%x, %w) {units = 40} : (tensor<1x4xf32>, tensor<40x4xf32>) -> tensor<1x40xf32>
  %z = relay.nn.dense(%y, %v) : (tensor<1x40xf32>, tensor<5x40xf32>) -> tensor<1x5xf32>
  func.return %z : tensor<1x5xf32>
}

// Channels last: blocks between the ends, with one transform at each; weights are packed from their own layout.
// CHECK-LABEL: func.func @channels_last
// CHECK-NEXT:    %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW16c"}
// CHECK-DAG:     relay.layout_transform(%w) {src_layout = "HWIO", dst_layout = "OIHW16i16o"}
// CHECK-DAG:     relay.layout_transform(%d) {src_layout = "HWIO", dst_layout = "OIHW1i16o"}
// CHECK:         %[[C:.*]] = relay.nn.conv2d(%[[X]], {{.*}}) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}
// CHECK:         %[[A:.*]] = relay.add(%[[C]], %{{.*}}) : (tensor<1x1x8x8x16xf32>, tensor<1x1x1x1x16xf32>)
// CHECK-NEXT:    %[[P:.*]] = relay.nn.max_pool2d(%[[A]]) {pool_size = [2, 2], layout = "NCHW16c"}
// CHECK-NEXT:    %[[D:.*]] = relay.nn.conv2d(%[[P]], {{.*}}) {groups = 16, data_layout = "NCHW16c", kernel_layout = "OIHW1i16o"}
// CHECK-NEXT:    %[[Y:.*]] = relay.layout_transform(%[[D]]) {src_layout = "NCHW16c", dst_layout = "NHWC"}
// CHECK-NEXT:    func.return %[[Y]]
func.func @channels_last(%x: tensor<1x8x8x16xf32>) -> tensor<1x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<1x1x16x16xf32>
  %d = relay.constant dense<1.0> : tensor<1x1x1x16xf32>
  %b = relay.constant dense<1.0> : tensor<16xf32>
  %c = relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x8x8x16xf32>
  %a = relay.add(%c, %b) : (tensor<1x8x8x16xf32>, tensor<16xf32>) -> tensor<1x8x8x16xf32>
  %p = relay.nn.max_pool2d(%a) {pool_size = [2, 2], layout = "NHWC"} : (tensor<1x8x8x16xf32>) -> tensor<1x7x7x16xf32>
  %e = relay.nn.conv2d(%p, %d) {groups = 16, data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x7x7x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x7x7x16xf32>
  func.return %e : tensor<1x7x7x16xf32>
}

// Consecutive transforms are merged; inverse transforms cancel, also across ops that accept any layout; equal ones are
// shared.
// CHECK-LABEL: func.func @in_a_row
// CHECK-NEXT:    %[[A:.*]] = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW8c"}
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%x)
// CHECK-NEXT:    %[[S:.*]] = relay.add(%[[R]], %x)
// CHECK-NEXT:    func.return %[[A]], %[[S]], %[[A]]
func.func @in_a_row(%x: tensor<1x8x8x16xf32>) -> (tensor<1x2x8x8x8xf32>, tensor<1x8x8x16xf32>, tensor<1x2x8x8x8xf32>) {
  %p = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x8x8x16xf32>) -> tensor<1x16x8x8xf32>
  %q = relay.layout_transform(%p) {src_layout = "NCHW", dst_layout = "NCHW16c"} : (tensor<1x16x8x8xf32>) -> tensor<1x1x8x8x16xf32>
  %a = relay.layout_transform(%q) {src_layout = "NCHW16c", dst_layout = "NCHW8c"} : (tensor<1x1x8x8x16xf32>) -> tensor<1x2x8x8x8xf32>
  %r = relay.nn.relu(%q) : (tensor<1x1x8x8x16xf32>) -> tensor<1x1x8x8x16xf32>
  %s = relay.add(%r, %q) : (tensor<1x1x8x8x16xf32>, tensor<1x1x8x8x16xf32>) -> tensor<1x1x8x8x16xf32>
  %t = relay.layout_transform(%s) {src_layout = "NCHW16c", dst_layout = "NHWC"} : (tensor<1x1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %b = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW8c"} : (tensor<1x8x8x16xf32>) -> tensor<1x2x8x8x8xf32>
  func.return %a, %t, %b : tensor<1x2x8x8x8xf32>, tensor<1x8x8x16xf32>, tensor<1x2x8x8x8xf32>
}

// Not cancelled: the first pads a block, and the second keeps the padding.
// CHECK-LABEL: func.func @filled_up
// CHECK-NEXT:    relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x3x8x8xf32>) -> tensor<1x1x8x8x4xf32>
// CHECK-NEXT:    relay.layout_transform({{.*}}) {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
func.func @filled_up(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %p = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x3x8x8xf32>) -> tensor<1x1x8x8x4xf32>
  %q = relay.layout_transform(%p) {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  func.return %q : tensor<1x4x8x8xf32>
}

// A tuple gets a layout only if its fields have the layout's rank: here one has three axes, the other four.
// CHECK-LABEL: func.func @mixed_ranks
// CHECK:         %[[S:.*]] = relay.sum(
// CHECK:         %[[R:.*]] = relay.layout_transform(%[[S]]) {src_layout = "NCH", dst_layout = "NHC"}
// CHECK-NEXT:    relay.tuple(%[[R]], %y) : (tensor<1x1x12xf32>, tensor<1x2x5x4xf32>)
// CHECK-NEXT:    relay.nn.softmax(%y) {axis = 3}
func.func @mixed_ranks(%x: tensor<1x2x5x4xf32>, %y: tensor<1x2x5x4xf32>) -> (tuple<tensor<1x1x12xf32>, tensor<1x2x5x4xf32>>, tensor<1x2x5x4xf32>) {
  %w = relay.constant dense<1.0> : tensor<12x3x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) {padding = [0, 2, 1, 0], groups = 4, data_layout = "NHWC", kernel_layout = "OHWI"} : (tensor<1x2x5x4xf32>, tensor<12x3x1x1xf32>) -> tensor<1x1x7x12xf32>
  %r = relay.sum(%c) {axis = [2]} : (tensor<1x1x7x12xf32>) -> tensor<1x1x12xf32>
  %t = relay.tuple(%r, %y) : (tensor<1x1x12xf32>, tensor<1x2x5x4xf32>) -> tuple<tensor<1x1x12xf32>, tensor<1x2x5x4xf32>>
  %s = relay.nn.softmax(%y) {axis = 3} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  func.return %t, %s : tuple<tensor<1x1x12xf32>, tensor<1x2x5x4xf32>>, tensor<1x2x5x4xf32>
}

// A field that is a tuple is the original value: its own fields have the layouts in which they are computed.
// CHECK-LABEL: func.func @nested_tuples
// CHECK:         %[[C:.*]] = relay.nn.conv2d(%x_1,
// CHECK-NEXT:    relay.nn.conv2d(%[[C]],
func.func @nested_tuples(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %t = relay.tuple(%x, %c) : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>
  %u = relay.tuple(%x, %t) : (tensor<1x16x8x8xf32>, tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>) -> tuple<tensor<1x16x8x8xf32>, tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>>
  %v = relay.tuple_get_item(%u) {index = 1} : (tuple<tensor<1x16x8x8xf32>, tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>>) -> tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>
  %f = relay.tuple_get_item(%v) {index = 1} : (tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>) -> tensor<1x16x8x8xf32>
  %d = relay.nn.conv2d(%f, %w) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  func.return %d : tensor<1x16x8x8xf32>
}

// CHECK-LABEL: func.func @nested_tuple_returned
// CHECK:         %[[C:.*]] = relay.nn.conv2d(
// CHECK-NEXT:    %[[P:.*]] = relay.layout_transform(%[[C]]) {src_layout = "NCHW16c", dst_layout = "NCHW"}
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%x, %[[P]])
// CHECK-NEXT:    func.return %[[T]]
func.func @nested_tuple_returned(%x: tensor<1x16x8x8xf32>) -> tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %t = relay.tuple(%x, %c) : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>
  %u = relay.tuple(%x, %t) : (tensor<1x16x8x8xf32>, tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>) -> tuple<tensor<1x16x8x8xf32>, tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>>
  %v = relay.tuple_get_item(%u) {index = 1} : (tuple<tensor<1x16x8x8xf32>, tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>>) -> tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>
  func.return %v : tuple<tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>>
}

// The layout NHWC of the first transform is HWCN in the second: they do not cancel.
// CHECK-LABEL: func.func @other_letters
// CHECK-NEXT:    %[[A:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[A]])
// CHECK-NEXT:    relay.layout_transform(%[[R]]) {src_layout = "HWCN", dst_layout = "NCHW"}
func.func @other_letters(%x: tensor<2x3x4x5xf32>) -> tensor<3x5x2x4xf32> {
  %a = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %r = relay.nn.relu(%a) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %b = relay.layout_transform(%r) {src_layout = "HWCN", dst_layout = "NCHW"} : (tensor<2x4x5x3xf32>) -> tensor<3x5x2x4xf32>
  func.return %b : tensor<3x5x2x4xf32>
}

// A layout of the squeezed value does not determine the axes before.
// CHECK-LABEL: func.func @squeezed
// CHECK-NEXT:    %[[S:.*]] = relay.squeeze(%x) {axis = [3]}
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[S]])
// CHECK-NEXT:    relay.layout_transform(%[[R]]) {src_layout = "NHC", dst_layout = "CNH"}
func.func @squeezed(%x: tensor<2x3x5x1xf32>) -> tensor<5x2x3xf32> {
  %s = relay.squeeze(%x) {axis = [3]} : (tensor<2x3x5x1xf32>) -> tensor<2x3x5xf32>
  %r = relay.nn.relu(%s) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %b = relay.layout_transform(%r) {src_layout = "NHC", dst_layout = "CNH"} : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  func.return %b : tensor<5x2x3xf32>
}

// An operand of one element is unchanged; an operand that is rejected at the end leaves no ops behind.
// CHECK-LABEL: func.func @one_element
// CHECK-NOT:     relay.expand_dims
// CHECK:         relay.add(%{{.*}}, %b) : (tensor<1x1x4x4x16xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4x4x16xf32>
// CHECK-NOT:     relay.expand_dims
// CHECK:         relay.add(%{{.*}}, %d) : (tensor<1x16x4x4xf32>, tensor<3x1x1x1x1xf32>)
// CHECK-NEXT:    func.return
func.func @one_element(%x: tensor<1x16x4x4xf32>, %b: tensor<1x1x1xf32>, %d: tensor<3x1x1x1x1xf32>) -> tensor<3x1x16x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %y = relay.add(%c, %b) : (tensor<1x16x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x16x4x4xf32>
  %z = relay.add(%y, %d) : (tensor<1x16x4x4xf32>, tensor<3x1x1x1x1xf32>) -> tensor<3x1x16x4x4xf32>
  func.return %z : tensor<3x1x16x4x4xf32>
}

// A weight that is a parameter of the function is packed at run time, as in Relay.
// CHECK-LABEL: func.func @parameter
// CHECK-DAG:     relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16i16o"}
// CHECK-DAG:     relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}
// CHECK:         relay.nn.conv2d
// CHECK-SAME:      data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"
// CHECK-LABEL: func.func @dense_parameter
// CHECK:         relay.layout_transform(%w) {src_layout = "NC", dst_layout = "NC16n"}
// CHECK:         relay.nn.contrib_dense_pack
func.func @parameter(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %a = relay.nn.conv2d(%x, %w) : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  func.return %a : tensor<1x16x8x8xf32>
}

func.func @dense_parameter(%x: tensor<2x4xf32>, %w: tensor<16x4xf32>) -> tensor<2x16xf32> {
  %y = relay.nn.dense(%x, %w) {units = 16} : (tensor<2x4xf32>, tensor<16x4xf32>) -> tensor<2x16xf32>
  func.return %y : tensor<2x16xf32>
}

// More units than fit into a vector are in blocks of a vector, the last one filled up.
// CHECK-LABEL: func.func @odd_units
// CHECK:         relay.layout_transform(%w) {src_layout = "NC", dst_layout = "NC16n"} : (tensor<21x4xf32>) -> tensor<2x4x16xf32>
// CHECK:         relay.nn.contrib_dense_pack(%x, %{{.*}}) {weight_layout = "NC16n", units = 21} {{.*}} -> tensor<2x21xf32>
// CHECK:         relay.nn.contrib_dense_pack(%x, %{{.*}}) : {{.*}} -> tensor<2x8xf32>
// CHECK:         relay.nn.dense(%x, %{{.*}})
func.func @odd_units(%x: tensor<2x4xf32>, %w: tensor<21x4xf32>, %v: tensor<8x4xf32>, %u: tensor<7x4xf32>) -> (tensor<2x21xf32>, tensor<2x8xf32>, tensor<2x7xf32>) {
  %y = relay.nn.dense(%x, %w) : (tensor<2x4xf32>, tensor<21x4xf32>) -> tensor<2x21xf32>
  %z = relay.nn.dense(%x, %v) : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %t = relay.nn.dense(%x, %u) : (tensor<2x4xf32>, tensor<7x4xf32>) -> tensor<2x7xf32>
  func.return %y, %z, %t : tensor<2x21xf32>, tensor<2x8xf32>, tensor<2x7xf32>
}

// Filters of zeros fill up the last vector instead of half of it, if the sums are long and no filter has neighbours.
// CHECK-LABEL: func.func @half_a_vector
// CHECK:         relay.nn.conv2d({{.*}}) {channels = 32, data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}
// CHECK-NEXT:    relay.layout_transform({{.*}}) {src_layout = "NCHW16c", dst_layout = "NCHW"} {{.*}} -> tensor<1x32x2x2xf32>
// CHECK-NEXT:    relay.strided_slice({{.*}}) {begin = [0], end = [24], axes = [1]} {{.*}} -> tensor<1x24x2x2xf32>
// CHECK:         relay.nn.conv2d({{.*}}) {{{.*}}kernel_layout = "OIHW16i8o", {{.*}} -> tensor<1x3x2x2x8xf32>
// CHECK:         relay.nn.conv2d({{.*}}) {{{.*}}kernel_layout = "OIHW16i8o", {{.*}} -> tensor<1x3x2x2x8xf32>
func.func @half_a_vector(%x: tensor<1x512x2x2xf32>, %w: tensor<24x512x1x1xf32>, %v: tensor<24x512x3x3xf32>, %u: tensor<24x256x1x1xf32>) -> (tensor<1x24x2x2xf32>, tensor<1x24x2x2xf32>, tensor<1x24x2x2xf32>) {
  %a = relay.nn.conv2d(%x, %w) {channels = 24} : (tensor<1x512x2x2xf32>, tensor<24x512x1x1xf32>) -> tensor<1x24x2x2xf32>
  %b = relay.nn.conv2d(%x, %v) {padding = [1, 1]} : (tensor<1x512x2x2xf32>, tensor<24x512x3x3xf32>) -> tensor<1x24x2x2xf32>
  %s = relay.strided_slice(%x) {begin = [0], end = [256], axes = [1]} : (tensor<1x512x2x2xf32>) -> tensor<1x256x2x2xf32>
  %c = relay.nn.conv2d(%s, %u) : (tensor<1x256x2x2xf32>, tensor<24x256x1x1xf32>) -> tensor<1x24x2x2xf32>
  func.return %a, %b, %c : tensor<1x24x2x2xf32>, tensor<1x24x2x2xf32>, tensor<1x24x2x2xf32>
}

// Filters of zeros fill up the last vector, if they are few and the stride is not 1; the result is cropped.
// CHECK-LABEL: func.func @odd_filters
// CHECK:         relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW4i16o"} : (tensor<29x4x1x1xf32>) -> tensor<2x1x1x1x4x16xf32>
// CHECK:         relay.nn.conv2d({{.*}}) {strides = [2, 2], channels = 32, data_layout = "NCHW4c", kernel_layout = "OIHW4i16o", out_layout = "NCHW16c"}
// CHECK-NEXT:    relay.layout_transform({{.*}}) {src_layout = "NCHW16c", dst_layout = "NCHW"} {{.*}} -> tensor<1x32x2x2xf32>
// CHECK-NEXT:    relay.strided_slice({{.*}}) {begin = [0], end = [29], axes = [1]} {{.*}} -> tensor<1x29x2x2xf32>
// CHECK-NEXT:    relay.nn.relu
// CHECK:         relay.nn.conv2d(%{{.*}}, %v) :
func.func @odd_filters(%x: tensor<1x4x3x3xf32>, %w: tensor<29x4x1x1xf32>, %v: tensor<9x29x1x1xf32>) -> tensor<1x9x2x2xf32> {
  %y = relay.nn.conv2d(%x, %w) {strides = [2, 2], channels = 29} : (tensor<1x4x3x3xf32>, tensor<29x4x1x1xf32>) -> tensor<1x29x2x2xf32>
  %r = relay.nn.relu(%y) : (tensor<1x29x2x2xf32>) -> tensor<1x29x2x2xf32>
  %z = relay.nn.conv2d(%r, %v) : (tensor<1x29x2x2xf32>, tensor<9x29x1x1xf32>) -> tensor<1x9x2x2xf32>
  func.return %z : tensor<1x9x2x2xf32>
}
