// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:NHWC:HWIO"}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:NCHW16c"}' | filecheck %s --check-prefix BLOCKS
// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:NCHW:default","nn.max_pool2d:NHWC"}' | filecheck %s --check-prefix BACK
// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:NHWC:HWIO","nn.relu:NHWC:default"}' | filecheck %s
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="image.grid_sample:NHWC"}' 2>&1 | filecheck %s --check-prefix NO-LAYOUT
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:NCH"}' 2>&1 | filecheck %s --check-prefix AXES
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:N3HW"}' 2>&1 | filecheck %s --check-prefix SYNTAX

// NO-LAYOUT: relay-convert-layout: desired-layouts[0] 'image.grid_sample:NHWC': 'image.grid_sample' has no layout to choose; help: one of nn.conv2d, nn.conv1d, nn.conv3d, qnn.conv2d, nn.max_pool2d
// AXES: relay-convert-layout: desired-layouts[0] 'nn.conv2d:NCH': layout NCH does not have the axes NCHW
// SYNTAX: relay-convert-layout: desired-layouts[0] 'nn.conv2d:N3HW': 'N3HW' is not a layout

// Elementwise ops, pools and ops along an axis follow, named or not; the result is converted back once.
// CHECK-LABEL: func.func @fires
// CHECK-DAG:     %[[W:.*]] = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWIO"}
// CHECK-DAG:     %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK:         %[[A:.*]] = relay.nn.conv2d(%[[X]], %[[W]]) {data_layout = "NHWC", kernel_layout = "HWIO"}
// CHECK-NEXT:    %[[B:.*]] = relay.nn.bias_add(%[[A]], %b) {axis = 3}
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[B]])
// CHECK-NEXT:    %[[P:.*]] = relay.nn.max_pool2d(%[[R]]) {pool_size = [2, 2], layout = "NHWC"}
// CHECK-NEXT:    %[[S:.*]] = relay.nn.softmax(%[[P]]) {axis = 3}
// CHECK-NEXT:    %[[Y:.*]] = relay.layout_transform(%[[S]]) {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK-NEXT:    func.return %[[Y]]
// In blocks the bias along the split axis becomes an addition; the softmax converts the value back.
// BLOCKS-LABEL: func.func @fires
// BLOCKS:         relay.nn.conv2d({{.*}}) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}
// BLOCKS:         relay.add({{.*}}) : (tensor<1x2x4x4x16xf32>, tensor<1x2x1x1x16xf32>)
// BLOCKS-NEXT:    relay.nn.relu
// BLOCKS-NEXT:    %[[A:.*]] = relay.nn.max_pool2d({{.*}}) {pool_size = [2, 2], layout = "NCHW16c"}
// BLOCKS-NEXT:    %[[P:.*]] = relay.layout_transform(%[[A]]) {src_layout = "NCHW16c", dst_layout = "NCHW"}
// BLOCKS-NEXT:    relay.nn.softmax(%[[P]])
// BACK-LABEL: func.func @fires
// BACK:         relay.nn.conv2d(%x, %w) :
// BACK:         relay.nn.max_pool2d({{.*}}) {pool_size = [2, 2], layout = "NHWC"}
func.func @fires(%x: tensor<1x16x6x6xf32>, %w: tensor<32x16x3x3xf32>, %b: tensor<32xf32>) -> tensor<1x32x3x3xf32> {
  %a = relay.nn.conv2d(%x, %w) : (tensor<1x16x6x6xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x4x4xf32>
  %c = relay.nn.bias_add(%a, %b) : (tensor<1x32x4x4xf32>, tensor<32xf32>) -> tensor<1x32x4x4xf32>
  %r = relay.nn.relu(%c) : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %p = relay.nn.max_pool2d(%r) {pool_size = [2, 2]} : (tensor<1x32x4x4xf32>) -> tensor<1x32x3x3xf32>
  %s = relay.nn.softmax(%p) {axis = 1} : (tensor<1x32x3x3xf32>) -> tensor<1x32x3x3xf32>
  func.return %s : tensor<1x32x3x3xf32>
}

// From other layouts: channels last unchanged, to plain layouts, or to blocks; from blocks to plain layouts, where the
// addition of a blocked bias stays, as the result is used in blocks, too.
// CHECK-LABEL: func.func @channels_last
// CHECK-NEXT:    relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"}
// BLOCKS-LABEL: func.func @channels_last
// BLOCKS-DAG:     relay.layout_transform(%w) {src_layout = "HWIO", dst_layout = "OIHW16i16o"}
// BLOCKS-DAG:     relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW16c"}
// BLOCKS:         relay.nn.relu({{.*}}) : (tensor<1x2x4x4x16xf32>)
// BACK-LABEL: func.func @channels_last
// BACK:         relay.nn.conv2d({{.*}}) : (tensor<1x16x6x6xf32>, tensor<32x16x3x3xf32>)
// BACK:         relay.layout_transform({{.*}}) {src_layout = "NCHW", dst_layout = "NHWC"}
func.func @channels_last(%x: tensor<1x6x6x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<1x4x4x32xf32> {
  %a = relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x6x6x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x4x4x32xf32>
  %r = relay.nn.relu(%a) : (tensor<1x4x4x32xf32>) -> tensor<1x4x4x32xf32>
  func.return %r : tensor<1x4x4x32xf32>
}

// BACK-LABEL: func.func @blocked
// BACK:         %[[A:.*]] = relay.nn.conv2d({{.*}}) : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>)
// BACK-NEXT:    %[[B:.*]] = relay.layout_transform(%[[A]]) {src_layout = "NCHW", dst_layout = "NCHW16c"}
// BACK-NEXT:    relay.add(%[[B]], %b) : (tensor<1x1x4x4x16xf32>, tensor<1x1x1x1x16xf32>)
func.func @blocked(%x: tensor<1x1x6x6x16xf32>, %w: tensor<1x1x3x3x16x16xf32>, %b: tensor<1x1x1x1x16xf32>) -> tensor<1x1x4x4x16xf32> {
  %a = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x6x6x16xf32>, tensor<1x1x3x3x16x16xf32>) -> tensor<1x1x4x4x16xf32>
  %r = relay.add(%a, %b) : (tensor<1x1x4x4x16xf32>, tensor<1x1x1x1x16xf32>) -> tensor<1x1x4x4x16xf32>
  func.return %r : tensor<1x1x4x4x16xf32>
}

// Rejected: three channels do not form a block of 16. A depthwise convolution has one in-channel per block.
// BLOCKS-LABEL: func.func @refuses
// BLOCKS:         relay.nn.conv2d(%x, %w) :
// BLOCKS:         relay.nn.conv2d({{.*}}) {groups = 16, data_layout = "NCHW16c", kernel_layout = "OIHW1i16o"}
func.func @refuses(%x: tensor<1x3x6x6xf32>, %w: tensor<16x3x3x3xf32>, %v: tensor<16x1x3x3xf32>) -> tensor<1x16x2x2xf32> {
  %a = relay.nn.conv2d(%x, %w) : (tensor<1x3x6x6xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32>
  %b = relay.nn.conv2d(%a, %v) {groups = 16} : (tensor<1x16x4x4xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x2x2xf32>
  func.return %b : tensor<1x16x2x2xf32>
}

// Unchanged: kernels.
// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT:    relay.nn.conv2d(%x, %w) :
func.func private @kernel(%x: tensor<1x3x6x6xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32> attributes {relay.primitive} {
  %a = relay.nn.conv2d(%x, %w) : (tensor<1x3x6x6xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32>
  func.return %a : tensor<1x16x4x4xf32>
}
