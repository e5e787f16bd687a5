// RUN: xrelay-opt %s -p relay-infer-type,relay-split-conv-transpose | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-conv-transpose --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// Even elements use one tap, odd ones two.
// CHECK-LABEL: func.func @two_phases
// CHECK:         %[[A:.*]] = relay.nn.conv1d(%x, %{{.*}}) : (tensor<1x8x9xf32>, tensor<16x8x1xf32>) -> tensor<1x16x9xf32>
// CHECK:         %[[B:.*]] = relay.nn.conv1d(%x, %{{.*}}) {padding = [0, 1]} : (tensor<1x8x9xf32>, tensor<16x8x2xf32>) -> tensor<1x16x9xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[A]], %[[B]])
// CHECK-NEXT:    %[[C:.*]] = relay.concatenate(%[[T]]) {axis = 1}
// CHECK-NEXT:    %[[S:.*]] = relay.annotation.stop_fusion(%[[C]])
// CHECK-NEXT:    %[[R:.*]] = relay.reshape(%[[S]]) {newshape = [0, -4, 2, -1, -2]} : {{.*}} -> tensor<1x2x16x9xf32>
// CHECK-NEXT:    %[[P:.*]] = relay.transpose(%[[R]]) {axes = [0, 2, 3, 1]}
// CHECK-NEXT:    %[[Y:.*]] = relay.reshape(%[[P]]) {newshape = [0, 0, -3]} : {{.*}} -> tensor<1x16x18xf32>
// CHECK-NEXT:    func.return %[[Y]]
// SAYS:          relay.nn.conv1d_transpose: 2 convolutions of stride 1
func.func @two_phases(%x: tensor<1x8x9xf32>) -> tensor<1x16x18xf32> {
  %w = relay.constant dense<1.0> : tensor<8x16x3xf32>
  %y = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1], output_padding = [1]} : (tensor<1x8x9xf32>, tensor<8x16x3xf32>) -> tensor<1x16x18xf32>
  func.return %y : tensor<1x16x18xf32>
}

// All phases have one tap; few filters are computed together. The last row does not exist.
// CHECK-LABEL: func.func @together
// CHECK:         relay.nn.conv2d(%x, %{{.*}}) {{{.*}}} : (tensor<1x4x?x6xf32, {{.*}}>, tensor<12x4x1x1xf32>)
// CHECK-NOT:     relay.concatenate
// CHECK:         relay.strided_slice({{.*}}) {begin = [0], end = [-1], axes = [2]}
// CHECK-NEXT:    relay.require({{.*}}) {{.*}} -> tensor<1x3x?x12xf32, #relay.dims<2 * n - 1>>
// SAYS:          relay.nn.conv2d_transpose: 1 convolutions of stride 1
func.func @together(%x: tensor<1x4x?x6xf32, #relay.dims<n>>) -> tensor<1x3x?x12xf32, #relay.dims<2 * n - 1>> {
  %w = relay.constant dense<1.0> : tensor<4x3x2x2xf32>
  %y = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 2], padding = [0, 0, 1, 0]} : (tensor<1x4x?x6xf32, #relay.dims<n>>, tensor<4x3x2x2xf32>) -> tensor<1x3x?x12xf32, #relay.dims<2 * n - 1>>
  func.return %y : tensor<1x3x?x12xf32, #relay.dims<2 * n - 1>>
}

// Phases that begin before the result have the same taps, and the first and the last element are sliced off.
// CHECK-LABEL: func.func @aligned
// CHECK:         relay.nn.conv1d(%x, %{{.*}}) {padding = [1, 1]} : (tensor<1x8x9xf32>, tensor<2x8x2xf32>) -> tensor<1x2x10xf32>
// CHECK-NOT:     relay.concatenate
// CHECK:         relay.strided_slice({{.*}}) {begin = [1], end = [-1], slice_mode = "size", axes = [2]} : {{.*}} -> tensor<1x1x19xf32>
// CHECK:         relay.strided_slice({{.*}}) {begin = [0], end = [-1], axes = [2]} : {{.*}} -> tensor<1x1x18xf32>
// SAYS:          relay.nn.conv1d_transpose: 1 convolutions of stride 1
func.func @aligned(%x: tensor<1x8x9xf32>) -> tensor<1x1x18xf32> {
  %w = relay.constant dense<1.0> : tensor<8x1x4xf32>
  %y = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1]} : (tensor<1x8x9xf32>, tensor<8x1x4xf32>) -> tensor<1x1x18xf32>
  func.return %y : tensor<1x1x18xf32>
}

// Many filters have a convolution for each phase: one for both would compute another element of each.
// CHECK-LABEL: func.func @many_filters
// CHECK-COUNT-2: relay.nn.conv1d(%x, {{.*}} -> tensor<1x64x9xf32>
// SAYS:          relay.nn.conv1d_transpose: 2 convolutions of stride 1
func.func @many_filters(%x: tensor<1x8x9xf32>) -> tensor<1x64x18xf32> {
  %w = relay.constant dense<1.0> : tensor<8x64x4xf32>
  %y = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1]} : (tensor<1x8x9xf32>, tensor<8x64x4xf32>) -> tensor<1x64x18xf32>
  func.return %y : tensor<1x64x18xf32>
}

// With stride 1 the filter is mirrored.
// CHECK-LABEL: func.func @mirrored
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[\[}}3.000000e+00, 2.000000e+00, 1.000000e+00]]]> : tensor<1x1x3xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.conv1d(%x, %[[W]]) {padding = [2, 2]}
// CHECK-NEXT:    func.return %[[Y]]
func.func @mirrored(%x: tensor<1x1x5xf32>) -> tensor<1x1x7xf32> {
  %w = relay.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %y = relay.nn.conv1d_transpose(%x, %w) : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x7xf32>
  func.return %y : tensor<1x1x7xf32>
}

// CHECK-LABEL: func.func @refused
// CHECK:         relay.nn.conv1d_transpose(%x, %v)
// CHECK:         relay.nn.conv1d_transpose(%i, %
// CHECK:         relay.nn.conv1d_transpose(%x, %{{.*}}) {padding = [2, 0]}
// CHECK:         relay.nn.conv1d_transpose(%c, %{{.*}}) {{{.*}}data_layout = "NWC"
// SAYS:          relay.nn.conv1d_transpose: its weight is not constant
// SAYS:          relay.nn.conv1d_transpose: its elements are i8
// SAYS:          relay.nn.conv1d_transpose: it needs more than 16 convolutions, or phases without taps or a part of the data
// SAYS:          relay.nn.conv1d_transpose: its layouts are NWC, IOW, NWC, not NCW, IOW, NCW
func.func @refused(%x: tensor<1x1x5xf32>, %v: tensor<1x1x2xf32>, %i: tensor<1x1x5xi8>, %c: tensor<1x5x1xf32>) -> (tensor<1x1x6xf32>, tensor<1x1x6xi8>, tensor<1x1x4xf32>, tensor<1x6x1xf32>) {
  %w = relay.constant dense<1.0> : tensor<1x1x2xf32>
  %k = relay.constant dense<1> : tensor<1x1x2xi8>
  %a = relay.nn.conv1d_transpose(%x, %v) : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x6xf32>
  %b = relay.nn.conv1d_transpose(%i, %k) : (tensor<1x1x5xi8>, tensor<1x1x2xi8>) -> tensor<1x1x6xi8>
  %d = relay.nn.conv1d_transpose(%x, %w) {padding = [2, 0]} : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32>
  %e = relay.nn.conv1d_transpose(%c, %w) {data_layout = "NWC"} : (tensor<1x5x1xf32>, tensor<1x1x2xf32>) -> tensor<1x6x1xf32>
  func.return %a, %b, %d, %e : tensor<1x1x6xf32>, tensor<1x1x6xi8>, tensor<1x1x4xf32>, tensor<1x6x1xf32>
}
