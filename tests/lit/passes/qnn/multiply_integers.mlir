// RUN: xrelay-opt %s -p qnn-multiply-integers | filecheck %s
// RUN: xrelay-opt %s -p qnn-multiply-integers --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// The zero point times the sums of the weight is subtracted from the sums of the bytes, which are scaled once.
// CHECK-LABEL: func.func @dense
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[}}1, 2, 3, 4], [-128, 127, 0, 0]]> : tensor<2x4xi8>
// CHECK-NEXT:    %[[P:.*]] = relay.nn.dense(%x, %[[W]]) {out_dtype = i32} : (tensor<3x4xui8>, tensor<2x4xi8>) -> tensor<3x2xi32>
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[100, -10]> : tensor<2xi32>
// CHECK-NEXT:    %[[D:.*]] = relay.subtract(%[[P]], %[[C]])
// CHECK-NEXT:    %[[S:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[F:.*]] = relay.cast(%[[D]]) {dtype = f32}
// CHECK-NEXT:    %[[Y:.*]] = relay.multiply(%[[F]], %[[S]])
// CHECK-NEXT:    func.return %[[Y]]
// SAYS: relay.nn.dense: multiplies integers
func.func @dense(%x: tensor<3x4xui8>) -> tensor<3x2xf32> {
  %w = relay.constant dense<[[1, 2, 3, 4], [-128, 127, 0, 0]]> : tensor<2x4xi8>
  %sx = relay.constant dense<0.5> : tensor<f32>
  %zx = relay.constant dense<10> : tensor<i32>
  %sw = relay.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %zw = relay.constant dense<0> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %sx, %zx) : (tensor<3x4xui8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %b = relay.qnn.dequantize(%w, %sw, %zw) {axis = 0} : (tensor<2x4xi8>, tensor<2xf32>, tensor<i32>) -> tensor<2x4xf32>
  %y = relay.nn.dense(%a, %b) : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// The columns of a matrix product have a scale and a zero point each.
// CHECK-LABEL: func.func @matmul
// CHECK:         relay.constant dense<{{\[\[}}0, 1, 1, 1], [-100, 1, 1, 1]]> : tensor<2x4xi8>
// CHECK:         relay.constant dense<[2.000000e+00, 1.000000e+00]> : tensor<2xf32>
func.func @matmul(%x: tensor<3x4xui8>) -> tensor<3x2xf32> {
  %w = relay.constant dense<[[1, 0], [2, 101], [2, 101], [2, 101]]> : tensor<4x2xui8>
  %sx = relay.constant dense<0.5> : tensor<f32>
  %zx = relay.constant dense<0> : tensor<i32>
  %sw = relay.constant dense<[4.0, 2.0]> : tensor<2xf32>
  %zw = relay.constant dense<[1, 100]> : tensor<2xi32>
  %a = relay.qnn.dequantize(%x, %sx, %zx) : (tensor<3x4xui8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %b = relay.qnn.dequantize(%w, %sw, %zw) {axis = 1} : (tensor<4x2xui8>, tensor<2xf32>, tensor<2xi32>) -> tensor<4x2xf32>
  %y = relay.nn.matmul(%a, %b) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A weight may be transposed after it is dequantised.
// CHECK-LABEL: func.func @transposed
// CHECK:         relay.constant dense<{{\[\[}}1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>
// CHECK:         relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
func.func @transposed(%x: tensor<3x4xui8>) -> tensor<3x2xf32> {
  %w = relay.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>
  %sx = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %sw = relay.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %a = relay.qnn.dequantize(%x, %sx, %z) : (tensor<3x4xui8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %b = relay.qnn.dequantize(%w, %sw, %z) {axis = 0} : (tensor<2x4xi8>, tensor<2xf32>, tensor<i32>) -> tensor<2x4xf32>
  %t = relay.transpose(%b) : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %y = relay.nn.matmul(%a, %t) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Scales of filters broadcast over the positions, and the data are padded with the zero point.
// CHECK-LABEL: func.func @conv
// CHECK:         relay.nn.pad(%x, %{{.*}}) {pad_width = [0, 0, 0, 0, 1, 1]}
// CHECK:         relay.nn.conv1d(%{{.*}}, %{{.*}}) {channels = 8, out_dtype = i32} : (tensor<1x4x7xui8>, tensor<8x4x3xi8>) -> tensor<1x8x5xi32>
// CHECK:         relay.multiply(%{{.*}}, %{{.*}}) : (tensor<1x8x5xf32>, tensor<8x1xf32>)
func.func @conv(%x: tensor<1x4x5xui8>) -> tensor<1x8x5xf32> {
  %w = relay.constant dense<1> : tensor<8x4x3xi8>
  %sx = relay.constant dense<0.5> : tensor<f32>
  %zx = relay.constant dense<10> : tensor<i32>
  %sw = relay.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %zw = relay.constant dense<0> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %sx, %zx) : (tensor<1x4x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5xf32>
  %b = relay.qnn.dequantize(%w, %sw, %zw) {axis = 0} : (tensor<8x4x3xi8>, tensor<8xf32>, tensor<i32>) -> tensor<8x4x3xf32>
  %y = relay.nn.conv1d(%a, %b) {channels = 8, padding = [1, 1]} : (tensor<1x4x5xf32>, tensor<8x4x3xf32>) -> tensor<1x8x5xf32>
  func.return %y : tensor<1x8x5xf32>
}

// Two computed factors, and scales along the terms of the sums, stay floats.
// CHECK-LABEL: func.func @refused
// CHECK-COUNT-2: relay.nn.dense({{.*}}) : (tensor<3x4xf32>, tensor<2x4xf32>)
// SAYS: relay.nn.dense: its weight is not constant
// SAYS: relay.nn.dense: the scale or the zero point of its weight varies along the sum
func.func @refused(%x: tensor<3x4xui8>, %v: tensor<2x4xi8>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = relay.constant dense<1> : tensor<2x4xi8>
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %t = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<3x4xui8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %b = relay.qnn.dequantize(%v, %s, %z) : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %c = relay.qnn.dequantize(%w, %t, %z) {axis = 1} : (tensor<2x4xi8>, tensor<4xf32>, tensor<i32>) -> tensor<2x4xf32>
  %y = relay.nn.dense(%a, %b) : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  %u = relay.nn.dense(%a, %c) : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  func.return %y, %u : tensor<3x2xf32>, tensor<3x2xf32>
}

// A depthwise convolution has no sum over channels.
// CHECK-LABEL: func.func @depthwise
// CHECK:         relay.nn.conv2d({{.*}} : (tensor<1x2x5x5xf32>, tensor<2x1x3x3xf32>)
// SAYS: relay.nn.conv2d: its filters have one channel each
func.func @depthwise(%x: tensor<1x2x5x5xui8>) -> tensor<1x2x3x3xf32> {
  %w = relay.constant dense<1> : tensor<2x1x3x3xi8>
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x2x5x5xf32>
  %b = relay.qnn.dequantize(%w, %s, %z) : (tensor<2x1x3x3xi8>, tensor<f32>, tensor<i32>) -> tensor<2x1x3x3xf32>
  %y = relay.nn.conv2d(%a, %b) {groups = 2} : (tensor<1x2x5x5xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// The last sum may be 65794 * 255 * 128, which exceeds i32.
// CHECK-LABEL: func.func @overflow
// CHECK:         relay.nn.dense({{.*}} : (tensor<1x65794xf32>, tensor<1x65794xf32>)
// SAYS: relay.nn.dense: its sums may exceed i32
func.func @overflow(%x: tensor<1x65794xui8>) -> tensor<1x1xf32> {
  %w = relay.constant dense<-128> : tensor<1x65794xi8>
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<1x65794xui8>, tensor<f32>, tensor<i32>) -> tensor<1x65794xf32>
  %b = relay.qnn.dequantize(%w, %s, %z) : (tensor<1x65794xi8>, tensor<f32>, tensor<i32>) -> tensor<1x65794xf32>
  %y = relay.nn.dense(%a, %b) : (tensor<1x65794xf32>, tensor<1x65794xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
