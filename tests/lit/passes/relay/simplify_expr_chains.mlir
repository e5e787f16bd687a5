// RUN: xrelay-opt %s -p relay-simplify-expr | filecheck %s

// Consecutive transposes and layout changes are merged into one change, a transpose if it only permutes axes.
// CHECK-LABEL: @transposed(
// CHECK-NEXT:    %[[Y:.*]] = relay.transpose(%x) {axes = [0, 2, 3, 1]}
// CHECK-NEXT:    func.return %[[Y]]
func.func @transposed(%x: tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32> {
  %a = relay.transpose(%x) {axes = [0, 2, 3, 1]} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  %b = relay.layout_transform(%a) {src_layout = "NHWC", dst_layout = "HWCN"} : (tensor<1x4x5x3xf32>) -> tensor<4x5x3x1xf32>
  %c = relay.transpose(%b) {axes = [3, 0, 1, 2]} : (tensor<4x5x3x1xf32>) -> tensor<1x4x5x3xf32>
  func.return %c : tensor<1x4x5x3xf32>
}

// CHECK-LABEL: @blocked(
// CHECK-NEXT:    %[[A:.*]] = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW4c"}
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[A]])
// CHECK-NEXT:    %[[Y:.*]] = relay.layout_transform(%[[R]]) {src_layout = "NCHW4c", dst_layout = "NHWC"}
// CHECK-NEXT:    func.return %[[Y]]
func.func @blocked(%x: tensor<1x5x6x8xf32>) -> tensor<1x5x6x8xf32> {
  %a = relay.transpose(%x) {axes = [0, 3, 1, 2]} : (tensor<1x5x6x8xf32>) -> tensor<1x8x5x6xf32>
  %b = relay.layout_transform(%a) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x5x6xf32>) -> tensor<1x2x5x6x4xf32>
  %c = relay.nn.relu(%b) : (tensor<1x2x5x6x4xf32>) -> tensor<1x2x5x6x4xf32>
  %d = relay.layout_transform(%c) {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x6x4xf32>) -> tensor<1x8x5x6xf32>
  %e = relay.transpose(%d) {axes = [0, 2, 3, 1]} : (tensor<1x8x5x6xf32>) -> tensor<1x5x6x8xf32>
  func.return %e : tensor<1x5x6x8xf32>
}

// A transpose of blocks is no layout change, and partial blocks enlarge the result.
// CHECK-LABEL: @not_joined(
// CHECK:         relay.layout_transform(%x)
// CHECK-NEXT:    relay.transpose
// CHECK:         relay.layout_transform(%z)
// CHECK-NEXT:    relay.layout_transform
func.func @not_joined(%x: tensor<1x8x2x3xf32>, %z: tensor<1x6x2x3xf32>) -> (tensor<4x1x2x2x3xf32>, tensor<1x8x2x3xf32>) {
  %a = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x2x3x4xf32>
  %b = relay.transpose(%a) {axes = [4, 0, 1, 2, 3]} : (tensor<1x2x2x3x4xf32>) -> tensor<4x1x2x2x3xf32>
  %c = relay.layout_transform(%z) {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x6x2x3xf32>) -> tensor<1x2x2x3x4xf32>
  %d = relay.layout_transform(%c) {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x2x3x4xf32>) -> tensor<1x8x2x3xf32>
  func.return %b, %d : tensor<4x1x2x2x3xf32>, tensor<1x8x2x3xf32>
}

// CHECK-LABEL: @pads(
// CHECK:         relay.nn.pad(%x, %{{.*}}) {pad_width = [2, 1, 0, 3]} : (tensor<4x5xf32>, tensor<f32>) -> tensor<7x8xf32>
// CHECK-NOT:     relay.nn.pad(%x
// CHECK:         relay.nn.pad(%{{.*}}, %two)
func.func @pads(%x: tensor<4x5xf32>) -> (tensor<7x8xf32>, tensor<8x8xf32>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %same = relay.constant dense<1.0> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %a = relay.nn.pad(%x, %one) {pad_width = [0, 1, 0, 1]} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5x6xf32>
  %b = relay.nn.pad(%a, %same) {pad_width = [2, 0, 0, 2]} : (tensor<5x6xf32>, tensor<f32>) -> tensor<7x8xf32>
  %c = relay.nn.pad(%b, %two) {pad_width = [1, 0, 0, 0]} : (tensor<7x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  func.return %b, %c : tensor<7x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @bounds(
// CHECK-NEXT:    %[[A:.*]] = relay.clip(%i) {a_min = 20.0, a_max = 200.0}
// CHECK-NEXT:    %[[B:.*]] = relay.cast(%[[A]]) {dtype = ui8}
// CHECK-NEXT:    %[[C:.*]] = relay.clip(%x) {a_min = 0.0, a_max = 255.0}
// CHECK-NEXT:    %[[D:.*]] = relay.cast(%[[C]]) {dtype = i32}
// CHECK-NEXT:    func.return %[[B]], %[[D]], %u
func.func @bounds(%i: tensor<9xi32>, %x: tensor<9xf32>, %u: tensor<9xui8>) -> (tensor<9xui8>, tensor<9xi32>, tensor<9xui8>) {
  %a = relay.clip(%i) {a_min = 10.0, a_max = 200.0} : (tensor<9xi32>) -> tensor<9xi32>
  %b = relay.cast(%a) {dtype = ui8} : (tensor<9xi32>) -> tensor<9xui8>
  %c = relay.clip(%b) {a_min = 20.0, a_max = 255.0} : (tensor<9xui8>) -> tensor<9xui8>
  %d = relay.clip(%x) {a_min = 0.0, a_max = 255.0} : (tensor<9xf32>) -> tensor<9xf32>
  %e = relay.cast(%d) {dtype = ui8} : (tensor<9xf32>) -> tensor<9xui8>
  %f = relay.cast(%e) {dtype = i32} : (tensor<9xui8>) -> tensor<9xi32>
  %g = relay.clip(%u) {a_min = 0.0, a_max = 300.0} : (tensor<9xui8>) -> tensor<9xui8>
  func.return %c, %f, %g : tensor<9xui8>, tensor<9xi32>, tensor<9xui8>
}

// Left alone: bounds that are fractions, that exceed the intermediate type, or that f16 rounds.
// CHECK-LABEL: @bounds_that_stay(
// CHECK-COUNT-6: relay.clip
func.func @bounds_that_stay(%x: tensor<9xf32>, %i: tensor<9xi32>, %h: tensor<9xf16>) -> (tensor<9xi8>, tensor<9xi8>, tensor<9xi16>) {
  %a = relay.clip(%x) {a_min = -1.5, a_max = 9.0} : (tensor<9xf32>) -> tensor<9xf32>
  %b = relay.cast(%a) {dtype = i8} : (tensor<9xf32>) -> tensor<9xi8>
  %c = relay.clip(%b) {a_min = 0.0, a_max = 8.0} : (tensor<9xi8>) -> tensor<9xi8>
  %d = relay.clip(%i) {a_min = 0.0, a_max = 200.0} : (tensor<9xi32>) -> tensor<9xi32>
  %e = relay.cast(%d) {dtype = i8} : (tensor<9xi32>) -> tensor<9xi8>
  %f = relay.clip(%e) {a_min = 0.0, a_max = 8.0} : (tensor<9xi8>) -> tensor<9xi8>
  %g = relay.clip(%h) {a_min = 0.0, a_max = 4096.0} : (tensor<9xf16>) -> tensor<9xf16>
  %j = relay.cast(%g) {dtype = i16} : (tensor<9xf16>) -> tensor<9xi16>
  %k = relay.clip(%j) {a_min = 0.0, a_max = 4001.0} : (tensor<9xi16>) -> tensor<9xi16>
  func.return %c, %f, %k : tensor<9xi8>, tensor<9xi8>, tensor<9xi16>
}
