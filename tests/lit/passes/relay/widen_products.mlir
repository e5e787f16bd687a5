// RUN: xrelay-opt %s -p relay-widen-products | filecheck %s
// RUN: xrelay-opt %s -p relay-widen-products --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// CHECK-LABEL: func.func @convolution
// CHECK:         %[[X:.*]] = relay.cast(%x) {dtype = f32}
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{.*}}> : tensor<1x1x1x2xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.conv2d(%[[X]], %[[W]]) {padding = [0, 1]} : {{.*}} -> tensor<1x1x4x5xf32>
// CHECK-NEXT:    %[[R:.*]] = relay.cast(%[[Y]]) {dtype = f16}
// CHECK-NEXT:    func.return %[[R]]
// SAYS:          relay.nn.conv2d: multiplies in f32
func.func @convolution(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x5xf16> {
  %w = relay.constant dense<[[[[1.5, 2.0]]]]> : tensor<1x1x1x2xf16>
  %y = relay.nn.conv2d(%x, %w) {padding = [0, 1]} : (tensor<1x1x4x4xf16>, tensor<1x1x1x2xf16>) -> tensor<1x1x4x5xf16>
  func.return %y : tensor<1x1x4x5xf16>
}

// The result is f32 already.
// CHECK-LABEL: func.func @wide_result
// CHECK:         %[[Y:.*]] = relay.nn.dense({{.*}}) : (tensor<8x2xf32>, tensor<1x2xf32>) -> tensor<8x1xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @wide_result(%x: tensor<8x2xbf16>) -> tensor<8x1xf32> {
  %w = relay.constant dense<[[1.5, 2.0]]> : tensor<1x2xbf16>
  %y = relay.nn.dense(%x, %w) {out_dtype = f32} : (tensor<8x2xbf16>, tensor<1x2xbf16>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// CHECK-LABEL: func.func @refused
// CHECK:         relay.nn.dense(%x, %w) {{.*}} -> tensor<7x1xf16>
// CHECK-NEXT:    relay.nn.matmul(%n, %w) {{.*}} -> tensor<?x1xf16
// CHECK-NEXT:    relay.nn.dense(%c, %x) {{.*}} -> tensor<9x7xf16>
// SAYS:          relay.nn.dense: it has fewer than 8 rows
// SAYS:          relay.nn.matmul: its number of rows is not known
// SAYS:          relay.nn.dense: its weight is not constant
func.func @refused(%x: tensor<7x2xf16>, %n: tensor<?x2xf16, #relay.dims<n>>, %c: tensor<9x2xf16>) -> (tensor<7x1xf16>, tensor<?x1xf16, #relay.dims<n>>, tensor<9x7xf16>) {
  %w = relay.constant dense<[[1.5, 2.0]]> : tensor<1x2xf16>
  %a = relay.nn.dense(%x, %w) : (tensor<7x2xf16>, tensor<1x2xf16>) -> tensor<7x1xf16>
  %b = relay.nn.matmul(%n, %w) {transpose_b = true} : (tensor<?x2xf16, #relay.dims<n>>, tensor<1x2xf16>) -> tensor<?x1xf16, #relay.dims<n>>
  %d = relay.nn.dense(%c, %x) : (tensor<9x2xf16>, tensor<7x2xf16>) -> tensor<9x7xf16>
  func.return %a, %b, %d : tensor<7x1xf16>, tensor<?x1xf16, #relay.dims<n>>, tensor<9x7xf16>
}

// Sums of 2 products of differences of up to 256 by weights of up to 3 are exact in f32.
// CHECK-LABEL: func.func @depthwise
// CHECK:         %[[D:.*]] = relay.subtract
// CHECK-NEXT:    %[[X:.*]] = relay.cast(%[[D]]) {dtype = f32}
// CHECK-NEXT:    %[[W:.*]] = relay.constant {{.*}} : tensor<2x1x1x2xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.conv2d(%[[X]], %[[W]]) {groups = 2} : {{.*}} -> tensor<1x2x4x3xf32>
// CHECK-NEXT:    %[[R:.*]] = relay.cast(%[[Y]]) {dtype = i32}
// CHECK-NEXT:    func.return %[[R]]
// SAYS:          relay.nn.conv2d: multiplies in f32
func.func @depthwise(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x3xi32> {
  %w = relay.constant dense<[[[[1, 2]]], [[[3, -1]]]]> : tensor<2x1x1x2xi32>
  %z = relay.constant dense<100> : tensor<i32>
  %i = relay.cast(%x) {dtype = i32} : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xi32>
  %d = relay.subtract(%i, %z) : (tensor<1x2x4x4xi32>, tensor<i32>) -> tensor<1x2x4x4xi32>
  %y = relay.nn.conv2d(%d, %w) {groups = 2} : (tensor<1x2x4x4xi32>, tensor<2x1x1x2xi32>) -> tensor<1x2x4x3xi32>
  func.return %y : tensor<1x2x4x3xi32>
}

// Integers without a bound, sums that f32 does not represent, and other convolutions than depthwise ones.
// CHECK-LABEL: func.func @integers
// CHECK-NOT:     f32
// CHECK:         func.return
// SAYS:          relay.nn.conv2d: its integers have no bound
// SAYS:          relay.nn.conv2d: its sums may be too large for f32
func.func @integers(%x: tensor<1x2x4x4xi32>, %u: tensor<1x2x4x4xui16>) -> (tensor<1x2x4x3xi32>, tensor<1x2x4x3xi32>, tensor<1x2x4x3xi32>) {
  %w = relay.constant dense<[[[[1, 2]]], [[[3, -1]]]]> : tensor<2x1x1x2xi32>
  %v = relay.constant dense<200> : tensor<2x1x1x2xi32>
  %k = relay.constant dense<1> : tensor<2x2x1x2xi32>
  %i = relay.cast(%u) {dtype = i32} : (tensor<1x2x4x4xui16>) -> tensor<1x2x4x4xi32>
  %a = relay.nn.conv2d(%x, %w) {groups = 2} : (tensor<1x2x4x4xi32>, tensor<2x1x1x2xi32>) -> tensor<1x2x4x3xi32>
  %b = relay.nn.conv2d(%i, %v) {groups = 2} : (tensor<1x2x4x4xi32>, tensor<2x1x1x2xi32>) -> tensor<1x2x4x3xi32>
  %c = relay.nn.conv2d(%i, %k) : (tensor<1x2x4x4xi32>, tensor<2x2x1x2xi32>) -> tensor<1x2x4x3xi32>
  func.return %a, %b, %c : tensor<1x2x4x3xi32>, tensor<1x2x4x3xi32>, tensor<1x2x4x3xi32>
}
