// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// Named heavy ops if the layout has one; the choice and its reason are attributes of the kernel.
// CHECK-LABEL: @conv_bias_relu
// CHECK-SAME: topi.strategies = ["relay.nn.conv2d: conv2d_nchw
// CHECK: [[CONV:%.*]] = topi.conv2d_nchw(%x, %w) {padding = array<i64: 1, 1, 1, 1>}
// CHECK: [[BIAS:%.*]] = topi.compute "nn_bias_add"
// CHECK: topi.read [[CONV]]
// CHECK: topi.compute "nn_relu"
// CHECK: topi.read [[BIAS]]
// CHECK-NOT: relay.nn
func.func private @conv_bias_relu(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x8x8xf32> attributes {relay.primitive} {
  %0 = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = relay.nn.bias_add(%0, %b) : (tensor<1x4x8x8xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %2 = relay.nn.relu(%1) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %2 : tensor<1x4x8x8xf32>
}

// Blocked layouts use the blocked convolution.
// CHECK-LABEL: @blocked
// CHECK: topi.conv2d_nchwc(%x, %w)
func.func private @blocked(%x: tensor<1x1x8x8x16xf32>, %w: tensor<2x1x3x3x16x16xf32>) -> tensor<1x2x6x6x16xf32> attributes {relay.primitive} {
  %0 = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x1x8x8x16xf32>, tensor<2x1x3x3x16x16xf32>) -> tensor<1x2x6x6x16xf32>
  func.return %0 : tensor<1x2x6x6x16xf32>
}

// Any other layout becomes a guarded compute.
// CHECK-LABEL: @nhwc
// CHECK: topi.compute "conv2d"
// CHECK: topi.guard
func.func private @nhwc(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32> attributes {relay.primitive} {
  %0 = relay.nn.conv2d(%x, %w) {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  func.return %0 : tensor<1x6x6x4xf32>
}

// Tuples inside a kernel are removed; a scalar constant becomes a compute without index variables.
// CHECK-LABEL: @tuples
// CHECK: topi.compute "constant" []
// CHECK-NOT: relay.tuple
// CHECK-NOT: unrealized_conversion_cast
// CHECK: return
func.func private @tuples(%x: tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x9xf32>) attributes {relay.primitive} {
  %t = relay.split(%x) {indices_or_sections = 2, axis = 1} : (tensor<2x6xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
  %a = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<2x3xf32>, tensor<2x3xf32>>) -> tensor<2x3xf32>
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.multiply(%a, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %u = relay.tuple(%x, %d) : (tensor<2x6xf32>, tensor<2x3xf32>) -> tuple<tensor<2x6xf32>, tensor<2x3xf32>>
  %e = relay.concatenate(%u) {axis = 1} : (tuple<tensor<2x6xf32>, tensor<2x3xf32>>) -> tensor<2x9xf32>
  func.return %d, %e : tensor<2x3xf32>, tensor<2x9xf32>
}

// An unsigned element is read as a signless scalar, even if it is unused.
// CHECK-LABEL: @finite_integers
// CHECK: topi.read %x[%i0] : tensor<4xui32>
// CHECK: arith.constant true
func.func private @finite_integers(%x: tensor<4xui32>) -> tensor<4xi1> attributes {relay.primitive} {
  %0 = relay.isfinite(%x) : (tensor<4xui32>) -> tensor<4xi1>
  func.return %0 : tensor<4xi1>
}

// Functions that are not kernels are left alone.
// CHECK-LABEL: @main
// CHECK: relay.constant
// CHECK: relay.nn.relu
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// The bounds of a clip do not depend on the sign of zero, so that one instruction computes each.
// CHECK-LABEL: func.func @clip
// CHECK:         arith.maximumf {{.*}} fastmath<nsz> : f32
// CHECK:         arith.minimumf {{.*}} fastmath<nsz> : f32
func.func @clip(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %y = relay.clip(%x) {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
