// RUN: xrelay-opt %s -p relay-pad-channels,relay-fold-constant | filecheck %s
// RUN: xrelay-opt %s -p "relay-pad-channels{vector-lanes=8}" | filecheck %s --check-prefix=LANES8

// Filters of zeros pad the channels of a group; biases, depthwise filters and the filters of readers get zeros as well.
// CHECK-LABEL: @group(
// CHECK:         relay.nn.conv2d(%x, %{{.*}}) {channels = 32} : (tensor<1x8x9x9xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x7x7xf32>
// CHECK:         relay.add(%{{.*}}, %{{.*}}) : (tensor<1x32x7x7xf32>, tensor<32x1x1xf32>) -> tensor<1x32x7x7xf32>
// CHECK:         relay.nn.conv2d(%{{.*}}, %{{.*}}) {padding = [1, 1], groups = 32} : (tensor<1x32x7x7xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x7x7xf32>
// CHECK:         relay.nn.conv2d(%{{.*}}, %{{.*}}) : (tensor<1x32x1x1xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x1x1xf32>
// CHECK:         relay.nn.conv2d(%{{.*}}, %{{.*}}) : (tensor<1x8x1x1xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x1x1xf32>
// CHECK:         relay.multiply(%{{.*}}, %{{.*}}) : (tensor<1x32x7x7xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x7x7xf32>
// CHECK:         relay.nn.conv2d(%{{.*}}, %{{.*}}) : (tensor<1x32x7x7xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x7x7xf32>
// CHECK-NOT:     relay.strided_slice
// 24 channels are three whole vectors of 8 lanes.
// LANES8-LABEL: @group(
// LANES8-NOT:     tensor<1x32x
// LANES8-LABEL: @other_readers(
func.func @group(%x: tensor<1x8x9x9xf32>) -> tensor<1x16x7x7xf32> {
  %w = relay.constant dense<1.0> : tensor<24x8x3x3xf32>
  %b = relay.constant dense<2.0> : tensor<24x1x1xf32>
  %d = relay.constant dense<3.0> : tensor<24x1x3x3xf32>
  %s = relay.constant dense<4.0> : tensor<8x24x1x1xf32>
  %e = relay.constant dense<5.0> : tensor<24x8x1x1xf32>
  %v = relay.constant dense<6.0> : tensor<16x24x1x1xf32>
  %0 = relay.nn.conv2d(%x, %w) {channels = 24} : (tensor<1x8x9x9xf32>, tensor<24x8x3x3xf32>) -> tensor<1x24x7x7xf32>
  %1 = relay.add(%0, %b) : (tensor<1x24x7x7xf32>, tensor<24x1x1xf32>) -> tensor<1x24x7x7xf32>
  %2 = relay.nn.conv2d(%1, %d) {padding = [1, 1], groups = 24} : (tensor<1x24x7x7xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x7x7xf32>
  %3 = relay.nn.global_avg_pool2d(%2) : (tensor<1x24x7x7xf32>) -> tensor<1x24x1x1xf32>
  %4 = relay.nn.conv2d(%3, %s) : (tensor<1x24x1x1xf32>, tensor<8x24x1x1xf32>) -> tensor<1x8x1x1xf32>
  %5 = relay.nn.conv2d(%4, %e) : (tensor<1x8x1x1xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x1x1xf32>
  %6 = relay.sigmoid(%5) : (tensor<1x24x1x1xf32>) -> tensor<1x24x1x1xf32>
  %7 = relay.multiply(%2, %6) : (tensor<1x24x7x7xf32>, tensor<1x24x1x1xf32>) -> tensor<1x24x7x7xf32>
  %8 = relay.nn.conv2d(%7, %v) : (tensor<1x24x7x7xf32>, tensor<16x24x1x1xf32>) -> tensor<1x16x7x7xf32>
  func.return %8 : tensor<1x16x7x7xf32>
}

// Other ops read a part of the padded value.
// CHECK-LABEL: @other_readers(
// CHECK:         %[[Y:.*]] = relay.nn.conv2d(%x, %{{.*}}) : (tensor<1x64x9x9xf32>, tensor<32x64x3x3xf32>) -> tensor<1x32x7x7xf32>
// CHECK-NEXT:    %[[P:.*]] = relay.strided_slice(%[[Y]]) {begin = [0], end = [24], axes = [1]} {{.*}} -> tensor<1x24x7x7xf32>
// CHECK:         relay.exp(%[[P]])
func.func @other_readers(%x: tensor<1x64x9x9xf32>) -> (tensor<1x24x7x7xf32>, tensor<1x24x7x7xf32>) {
  %w = relay.constant dense<1.0> : tensor<24x64x3x3xf32>
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x64x9x9xf32>, tensor<24x64x3x3xf32>) -> tensor<1x24x7x7xf32>
  %1 = relay.exp(%0) : (tensor<1x24x7x7xf32>) -> tensor<1x24x7x7xf32>
  func.return %0, %1 : tensor<1x24x7x7xf32>, tensor<1x24x7x7xf32>
}

// The copy takes longer than the sums of three terms save.
// CHECK-LABEL: @short_sums(
// CHECK-NOT:     tensor<1x32x
func.func @short_sums(%x: tensor<1x3x9x9xf32>) -> tensor<1x24x9x9xf32> {
  %w = relay.constant dense<1.0> : tensor<24x3x1x1xf32>
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x3x9x9xf32>, tensor<24x3x1x1xf32>) -> tensor<1x24x9x9xf32>
  func.return %0 : tensor<1x24x9x9xf32>
}

// Channels of an argument are not padded, so that their sum reads a part; 32 or 20 channels have no halves of vectors.
// CHECK-LABEL: @other_channels(
// CHECK:         %[[Y:.*]] = relay.nn.conv2d(%x, %{{.*}}) : (tensor<1x64x9x9xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x9x9xf32>
// CHECK-NEXT:    %[[P:.*]] = relay.strided_slice(%[[Y]])
// CHECK-NEXT:    relay.add(%[[P]], %y)
// CHECK:         relay.nn.conv2d(%x, %v)
// CHECK-NEXT:    relay.nn.conv2d(%x, %w)
func.func @other_channels(%x: tensor<1x64x9x9xf32>, %y: tensor<1x24x9x9xf32>) -> (tensor<1x24x9x9xf32>, tensor<1x32x9x9xf32>, tensor<1x20x9x9xf32>) {
  %u = relay.constant dense<1.0> : tensor<24x64x1x1xf32>
  %v = relay.constant dense<1.0> : tensor<32x64x1x1xf32>
  %w = relay.constant dense<1.0> : tensor<20x64x1x1xf32>
  %0 = relay.nn.conv2d(%x, %u) : (tensor<1x64x9x9xf32>, tensor<24x64x1x1xf32>) -> tensor<1x24x9x9xf32>
  %1 = relay.add(%0, %y) : (tensor<1x24x9x9xf32>, tensor<1x24x9x9xf32>) -> tensor<1x24x9x9xf32>
  %2 = relay.nn.conv2d(%x, %v) : (tensor<1x64x9x9xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x9x9xf32>
  %3 = relay.nn.conv2d(%x, %w) : (tensor<1x64x9x9xf32>, tensor<20x64x1x1xf32>) -> tensor<1x20x9x9xf32>
  func.return %1, %2, %3 : tensor<1x24x9x9xf32>, tensor<1x32x9x9xf32>, tensor<1x20x9x9xf32>
}

// A factor that may be infinite would make NaN of the zeros; so would an infinite constant.
// CHECK-LABEL: @may_be_infinite(
// CHECK:         %[[P:.*]] = relay.strided_slice(
// CHECK-NEXT:    relay.multiply(%[[P]], %y)
// CHECK-NEXT:    relay.multiply(%[[P]], %i)
func.func @may_be_infinite(%x: tensor<1x64x9x9xf32>, %y: tensor<1x1x9x9xf32>) -> (tensor<1x24x9x9xf32>, tensor<1x24x9x9xf32>) {
  %w = relay.constant dense<1.0> : tensor<24x64x1x1xf32>
  %i = relay.constant dense<0x7F800000> : tensor<f32>
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x64x9x9xf32>, tensor<24x64x1x1xf32>) -> tensor<1x24x9x9xf32>
  %1 = relay.multiply(%0, %y) : (tensor<1x24x9x9xf32>, tensor<1x1x9x9xf32>) -> tensor<1x24x9x9xf32>
  %2 = relay.multiply(%0, %i) : (tensor<1x24x9x9xf32>, tensor<f32>) -> tensor<1x24x9x9xf32>
  func.return %1, %2 : tensor<1x24x9x9xf32>, tensor<1x24x9x9xf32>
}
