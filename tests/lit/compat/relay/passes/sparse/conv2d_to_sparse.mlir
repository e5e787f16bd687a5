// RUN: xrelay-opt %s -p 'relay-conv2d-to-sparse{weight-name="w","v" weight-shape="5x4x5x3","5x4x2x5x3" layout=NCHW kernel-size=1}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-conv2d-to-sparse{weight-name="w" weight-shape="5x4x2x5x3" layout=NHWC kernel-size=3}' | filecheck %s --check-prefix NHWC
// RUN: xrelay-opt %s -p 'relay-conv2d-to-sparse{weight-name="w" weight-shape="5x4x5x3" layout=NCHW}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK
// RUN: not xrelay-opt %s -p 'relay-conv2d-to-sparse{layout=NCWH}' 2>&1 | filecheck %s --check-prefix LAYOUT
// RUN: not xrelay-opt %s -p 'relay-conv2d-to-sparse{kernel-size=2}' 2>&1 | filecheck %s --check-prefix EVEN

// LAYOUT: error: relay-conv2d-to-sparse: the layout is 'NCWH', it must be NHWC or NCHW
// EVEN: error: relay-conv2d-to-sparse: kernel-size is 2, it must be odd

// CHECK-LABEL: func.func @points(%x: tensor<1x6x5x5xf32>, %w.data: tensor<5x4xf32> {{.*}}, %w.indices: tensor<5xi32> {{.*}}, %w.indptr: tensor<3xi32> {{.*}}, %v.data: tensor<5x4x2xf32>
func.func @points(%x: tensor<1x6x5x5xf32>, %w: tensor<8x6x1x1xf32>, %v: tensor<8x8x1x1xf32>) -> tensor<1x8x5x5xf32> {
  // REMARK: relay.nn.conv2d: its weight w is sparse now
  // CHECK: %y = relay.nn.sparse_conv2d(%x, %w.data, %w.indices, %w.indptr) {layout = "NCHW"}
  %y = relay.nn.conv2d(%x, %w) {channels = 8} : (tensor<1x6x5x5xf32>, tensor<8x6x1x1xf32>) -> tensor<1x8x5x5xf32>
  // CHECK: %z = relay.nn.sparse_conv2d(%y, %v.data, %v.indices, %v.indptr) {layout = "NCHW"}
  %z = relay.nn.conv2d(%y, %v) {channels = 8} : (tensor<1x8x5x5xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x5x5xf32>
  func.return %z : tensor<1x8x5x5xf32>
}

// CHECK-LABEL: func.func @strides(%x: tensor<1x6x5x5xf32>, %w: tensor<8x6x1x1xf32>)
func.func @strides(%x: tensor<1x6x5x5xf32>, %w: tensor<8x6x1x1xf32>) -> tensor<1x8x3x3xf32> {
  // REMARK: relay.nn.conv2d: it has groups, strides or a dilation
  %y = relay.nn.conv2d(%x, %w) {strides = [2, 2]} : (tensor<1x6x5x5xf32>, tensor<8x6x1x1xf32>) -> tensor<1x8x3x3xf32>
  func.return %y : tensor<1x8x3x3xf32>
}

// CHECK-LABEL: func.func @padded(%x: tensor<1x6x5x5xf32>, %w: tensor<8x6x1x1xf32>)
func.func @padded(%x: tensor<1x6x5x5xf32>, %w: tensor<8x6x1x1xf32>) -> tensor<1x8x7x7xf32> {
  // REMARK: relay.nn.conv2d: its padding changes the size of the image
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : (tensor<1x6x5x5xf32>, tensor<8x6x1x1xf32>) -> tensor<1x8x7x7xf32>
  func.return %y : tensor<1x8x7x7xf32>
}

// CHECK-LABEL: func.func @larger(%x: tensor<1x5x5x6xf32>, %w: tensor<3x3x6x8xf32>)
// NHWC-LABEL: func.func @larger(%x: tensor<1x5x5x6xf32>, %w.data: tensor<5x4x2xf32>
func.func @larger(%x: tensor<1x5x5x6xf32>, %w: tensor<3x3x6x8xf32>) -> tensor<1x5x5x8xf32> {
  // REMARK: relay.nn.conv2d: its layouts are NHWC, HWIO and NHWC
  // NHWC: relay.nn.sparse_conv2d(%x, %w.data, %w.indices, %w.indptr) {kernel_size = [3, 3]}
  %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x6xf32>, tensor<3x3x6x8xf32>) -> tensor<1x5x5x8xf32>
  func.return %y : tensor<1x5x5x8xf32>
}
