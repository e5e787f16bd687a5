// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d_transpose:NHWC","nn.deformable_conv2d:NHWC:default","image.resize2d:NHWC","vision.roi_align:NHWC:default"}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d_transpose:NCHW:OIHW","image.resize2d:NCHW3c","vision.roi_pool:NCHW"}' --remarks 2>&1 | filecheck %s --check-prefix OTHER
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d_transpose:NCHW4c"}' 2>&1 | filecheck %s --check-prefix SPLIT
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.deformable_conv2d:HWNC"}' 2>&1 | filecheck %s --check-prefix ORDER
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.deformable_conv2d:NHWC:OIHW"}' 2>&1 | filecheck %s --check-prefix KERNEL
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="vision.roi_align:NHWC:NC"}' 2>&1 | filecheck %s --check-prefix REGIONS
// RUN: not xrelay-opt %s -p 'relay-convert-layout{desired-layouts="vision.roi_pool:NHWC"}' 2>&1 | filecheck %s --check-prefix POOL

// SPLIT: desired-layouts[0] 'nn.conv2d_transpose:NCHW4c': layout NCHW4c splits C; no axis may be split
// ORDER: desired-layouts[0] 'nn.deformable_conv2d:HWNC': the layout HWNC is not NCHW or NHWC
// KERNEL: desired-layouts[0] 'nn.deformable_conv2d:NHWC:OIHW': with data in NHWC its kernel must be in HWIO
// REGIONS: desired-layouts[0] 'vision.roi_align:NHWC:NC': its regions have no layout; help: write default, or nothing
// POOL: desired-layouts[0] 'vision.roi_pool:NHWC': the layout NHWC is not NCHW

// OTHER-DAG: remark: relay-convert-layout: relay.image.resize2d: blocks of 3 do not divide the 4 channels
// OTHER-DAG: remark: relay-convert-layout: relay.vision.roi_pool: it works in NCHW already

// CHECK-LABEL: @transposed(
// CHECK-DAG:     %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-DAG:     %[[W:.*]] = relay.layout_transform(%w) {src_layout = "IOHW", dst_layout = "HWIO"}
// CHECK:         %[[C:.*]] = relay.nn.conv2d_transpose(%[[X]], %[[W]]) {strides = [2, 2], data_layout = "NHWC", kernel_layout = "HWIO"} {{.*}} -> tensor<1x9x9x2xf32>
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[C]])
// CHECK-NEXT:    relay.layout_transform(%[[R]]) {src_layout = "NHWC", dst_layout = "NCHW"}
// OTHER-LABEL: @transposed(
// OTHER:         %[[W:.*]] = relay.layout_transform(%w) {src_layout = "IOHW", dst_layout = "OIHW"}
// OTHER-NEXT:    relay.nn.conv2d_transpose(%x, %[[W]]) {strides = [2, 2], kernel_layout = "OIHW"}
func.func @transposed(%x: tensor<1x4x4x4xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x2x9x9xf32> {
  %c = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 2]} : (tensor<1x4x4x4xf32>, tensor<4x2x3x3xf32>) -> tensor<1x2x9x9xf32>
  %r = relay.nn.relu(%c) : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  func.return %r : tensor<1x2x9x9xf32>
}

// CHECK-LABEL: @deformable(
// CHECK-DAG:     %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-DAG:     %[[O:.*]] = relay.layout_transform(%o) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-DAG:     %[[W:.*]] = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWIO"}
// CHECK:         %[[C:.*]] = relay.nn.deformable_conv2d(%[[X]], %[[O]], %[[W]]) {padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} {{.*}} -> tensor<1x5x4x3xf32>
// CHECK-NEXT:    relay.layout_transform(%[[C]]) {src_layout = "NHWC", dst_layout = "NCHW"}
func.func @deformable(%x: tensor<1x2x5x4xf32>, %o: tensor<1x18x5x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x5x4xf32> {
  %y = relay.nn.deformable_conv2d(%x, %o, %w) {padding = [1, 1, 1, 1]} : (tensor<1x2x5x4xf32>, tensor<1x18x5x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x4xf32>
  func.return %y : tensor<1x3x5x4xf32>
}

// CHECK-LABEL: @resized(
// CHECK:         %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-NEXT:    %[[Y:.*]] = relay.image.resize2d(%[[X]]) {size = [6, 6], layout = "NHWC"} : {{.*}} -> tensor<1x6x6x4xf32>
// CHECK-NEXT:    relay.layout_transform(%[[Y]]) {src_layout = "NHWC", dst_layout = "NCHW"}
func.func @resized(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x6x6xf32> {
  %y = relay.image.resize2d(%x) {size = [6, 6]} : (tensor<1x4x4x4xf32>) -> tensor<1x4x6x6xf32>
  func.return %y : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: @regions(
// CHECK:         %[[X:.*]] = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
// CHECK-NEXT:    %[[Y:.*]] = relay.vision.roi_align(%[[X]], %r) {{.*}}layout = "NHWC"{{.*}} -> tensor<4x3x2x3xf32>
// CHECK-NEXT:    relay.layout_transform(%[[Y]]) {src_layout = "NHWC", dst_layout = "NCHW"}
// CHECK:         relay.vision.roi_pool(%x, %r)
func.func @regions(%x: tensor<2x3x6x7xf32>, %r: tensor<4x5xf32>) -> (tensor<4x3x3x2xf32>, tensor<4x3x3x2xf32>) {
  %y = relay.vision.roi_align(%x, %r) {pooled_size = [3, 2], spatial_scale = 1.0, sample_ratio = 2} : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
  %z = relay.vision.roi_pool(%x, %r) {pooled_size = [3, 2], spatial_scale = 1.0} : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
  func.return %y, %z : tensor<4x3x3x2xf32>, tensor<4x3x3x2xf32>
}
