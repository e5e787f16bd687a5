// RUN: xrelay-opt %s -p relay-fold-explicit-padding | filecheck %s

// CHECK-LABEL: @conv2d(
func.func @conv2d(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x11x9xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  // CHECK-NOT: relay.nn.pad
  // CHECK: relay.nn.conv2d(%x, %w) {padding = [2, 1, 3, 2]}
  %p = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 2, 3, 0, 1]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x13x9xf32>
  %y = relay.nn.conv2d(%p, %w) {padding = [0, 1, 0, 1]} : (tensor<1x3x13x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x11x9xf32>
  func.return %y : tensor<1x4x11x9xf32>
}

// CHECK-LABEL: @channels_last(
func.func @channels_last(%x: tensor<1x8x3xf32>, %w: tensor<3x3x4xf32>) -> tensor<1x8x4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  // CHECK-NOT: relay.nn.pad
  // CHECK: relay.nn.conv1d(%x, %w) {padding = [1, 1], data_layout = "NWC", kernel_layout = "WIO"}
  %p = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 1, 1, 0, 0]} : (tensor<1x8x3xf32>, tensor<f32>) -> tensor<1x10x3xf32>
  %y = relay.nn.conv1d(%p, %w) {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x10x3xf32>, tensor<3x3x4xf32>) -> tensor<1x8x4xf32>
  func.return %y : tensor<1x8x4xf32>
}

// A quantised convolution pads with the zero point.
// CHECK-LABEL: @qnn_conv2d(
func.func @qnn_conv2d(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>, %s: tensor<f32>) -> (tensor<1x4x8x8xi32>, tensor<1x4x8x8xi32>) {
  %zero = relay.constant dense<0> : tensor<i8>
  %three = relay.constant dense<3> : tensor<i8>
  %z = relay.constant dense<3> : tensor<i32>
  // CHECK: relay.qnn.conv2d(%x, %w, %{{.*}}) {padding = [1, 1, 1, 1]}
  // CHECK: %[[PADDED:.*]] = relay.nn.pad(%x
  // CHECK: relay.qnn.conv2d(%[[PADDED]]
  %p = relay.nn.pad(%x, %three) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xi8>, tensor<i8>) -> tensor<1x3x10x10xi8>
  %y = relay.qnn.conv2d(%p, %w, %z, %z, %s, %s) : (tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x8x8xi32>
  %q = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xi8>, tensor<i8>) -> tensor<1x3x10x10xi8>
  %u = relay.qnn.conv2d(%q, %w, %z, %z, %s, %s) : (tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x8x8xi32>
  func.return %y, %u : tensor<1x4x8x8xi32>, tensor<1x4x8x8xi32>
}

// A mean would count explicit padding differently.
// CHECK-LABEL: @pools(
func.func @pools(%x: tensor<1x3x8x8xf32>, %i: tensor<1x3x8x8xi8>) -> (tensor<1x3x9x9xf32>, tensor<1x3x9x9xi8>) {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %least = relay.constant dense<-128> : tensor<i8>
  // CHECK-NOT: relay.nn.pad
  // CHECK: relay.nn.avg_pool2d(%x) {pool_size = [2, 2], padding = [1, 1, 1, 1], count_include_pad = true}
  // CHECK: relay.nn.max_pool2d(%i) {pool_size = [2, 2], padding = [1, 1, 1, 1]}
  %p = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %y = relay.nn.avg_pool2d(%p) {pool_size = [2, 2]} : (tensor<1x3x10x10xf32>) -> tensor<1x3x9x9xf32>
  %q = relay.nn.pad(%i, %least) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xi8>, tensor<i8>) -> tensor<1x3x10x10xi8>
  %z = relay.nn.max_pool2d(%q) {pool_size = [2, 2]} : (tensor<1x3x10x10xi8>) -> tensor<1x3x9x9xi8>
  func.return %y, %z : tensor<1x3x9x9xf32>, tensor<1x3x9x9xi8>
}

// The least finite number is equivalent to minus infinity, unless a window contains nothing else.
// CHECK-LABEL: @least(
func.func @least(%x: tensor<1x3x8x8xf32>) -> (tensor<1x3x9x9xf32>, tensor<1x3x11x11xf32>) {
  %least = relay.constant dense<-3.40282347E+38> : tensor<f32>
  // CHECK: %[[P:.*]] = relay.nn.pad
  // CHECK: relay.nn.max_pool2d(%x) {pool_size = [2, 2], padding = [1, 1, 1, 1]}
  // CHECK: relay.nn.max_pool2d(%[[P]]) {pool_size = [2, 2], padding = [1, 1, 1, 1]}
  %p = relay.nn.pad(%x, %least) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %y = relay.nn.max_pool2d(%p) {pool_size = [2, 2]} : (tensor<1x3x10x10xf32>) -> tensor<1x3x9x9xf32>
  %z = relay.nn.max_pool2d(%p) {pool_size = [2, 2], padding = [1, 1, 1, 1]} : (tensor<1x3x10x10xf32>) -> tensor<1x3x11x11xf32>
  func.return %y, %z : tensor<1x3x9x9xf32>, tensor<1x3x11x11xf32>
}

// CHECK-LABEL: @another_number(
func.func @another_number(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x3x10x10xf32>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  // CHECK-COUNT-3: relay.nn.pad
  %p = relay.nn.pad(%x, %one) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %y = relay.nn.conv2d(%p, %w) : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %q = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1], pad_mode = "edge"} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %z = relay.nn.conv2d(%q, %w) : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %u = relay.nn.avg_pool2d(%r) {pool_size = [3, 3], padding = [1, 1, 1, 1]} : (tensor<1x3x10x10xf32>) -> tensor<1x3x10x10xf32>
  func.return %y, %z, %u : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x3x10x10xf32>
}
