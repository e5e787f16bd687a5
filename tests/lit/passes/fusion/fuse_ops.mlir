// RUN: xrelay-opt %s -p relay-fuse-ops | filecheck %s
// RUN: xrelay-opt %s -p relay-fuse-ops,relay-fuse-ops | filecheck %s
// RUN: xrelay-opt %s -p "relay-fuse-ops{fuse-opt-level=0}" | filecheck %s --check-prefix=LEVEL0
// RUN: xrelay-opt %s -p "relay-fuse-ops{max-depth=2}" | filecheck %s --check-prefix=DEPTH
// RUN: xrelay-opt %s -p "relay-fuse-ops{link-params=true}" | filecheck %s --check-prefix=LINK

// A heavy op fuses with the elementwise ops after it; parameters are in order of first use, each once.
// CHECK-LABEL: func.func @conv_bias_relu
// CHECK-NEXT:    %{{.*}} = relay.fused @fused_nn_conv2d_add_nn_relu(%p0 = %x : {{[^,]*}}, %p1 = %w : {{[^,]*}}, %p2 = %b : {{[^,]*}}) -> tensor<1x8x4x4xf32> attributes {anchor = "nn.conv2d", pattern = "kOutEWiseFusable"} {
// CHECK-NEXT:      %{{.*}} = relay.nn.conv2d(%p0, %p1)
// CHECK-NEXT:      %{{.*}} = relay.add(%{{.*}}, %p2)
// CHECK-NEXT:      %[[Y:.*]] = relay.nn.relu
// CHECK-NEXT:      relay.yield %[[Y]]
// LEVEL0-LABEL: func.func @conv_bias_relu
// LEVEL0:         relay.fused @fused_nn_conv2d(
// LEVEL0:         relay.fused @fused_add(
// LEVEL0:         relay.fused @fused_nn_relu(
// DEPTH-LABEL: func.func @conv_bias_relu
// DEPTH:         relay.fused @fused_nn_conv2d_add(
// DEPTH:         relay.fused @fused_nn_relu(
func.func @conv_bias_relu(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %b: tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %s = relay.add(%c, %b) : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.relu(%s) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return %r : tensor<1x8x4x4xf32>
}

// The sum fuses with its first operand's convolution, whatever the program order; names are numbered.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    %[[B:.*]] = relay.fused @fused_nn_conv2d(
// CHECK:         %{{.*}} = relay.fused @fused_nn_conv2d_add_nn_relu_1(%p0 = %x : {{.*}}, %p1 = %w : {{.*}}, %p2 = %[[B]] :
func.func @residual(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %b = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %a = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %s = relay.add(%a, %b) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.relu(%s) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return %r : tensor<1x8x4x4xf32>
}

// Nothing fuses into the input of a heavy op; a scalar is copied into each group that uses it.
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT:    relay.fused @fused_add(%p0 = %x : tensor<1x8x4x4xf32>)
// CHECK-NEXT:      %{{.*}} = relay.constant dense<1.000000e+00>
// CHECK:         relay.fused @fused_nn_conv2d_add(%p0 = %{{.*}}, %p1 = %w : tensor<8x8x1x1xf32>)
// CHECK:           %{{.*}} = relay.constant dense<1.000000e+00>
func.func @scalars(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %one = relay.constant dense<1.0> : tensor<f32>
  %p = relay.add(%x, %one) : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  %c = relay.nn.conv2d(%p, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %q = relay.add(%c, %one) : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  func.return %q : tensor<1x8x4x4xf32>
}

// Scale, mask and residual sum fuse with the products; a softmax does not.
// CHECK-LABEL: func.func @attention
// CHECK-NEXT:    relay.fused @fused_nn_batch_matmul_multiply_add(
// CHECK:         relay.fused @fused_nn_softmax(
// CHECK:         relay.fused @fused_nn_batch_matmul_add(
func.func @attention(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %m: tensor<2x1x8xf32>) -> tensor<2x8x4xf32> {
  %half = relay.constant dense<0.5> : tensor<f32>
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
  %t = relay.multiply(%s, %half) : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8x8xf32>
  %u = relay.add(%t, %m) : (tensor<2x8x8xf32>, tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
  %p = relay.nn.softmax(%u) : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %r = relay.nn.batch_matmul(%p, %v) {transpose_b = false} : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = relay.add(%r, %q) : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  func.return %y : tensor<2x8x4xf32>
}

// A larger constant is a parameter, unless link-params keeps it.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %k = relay.constant
// CHECK-NEXT:    relay.fused @fused_add_1(%p0 = %x : tensor<4xf32>, %p1 = %k : tensor<4xf32>)
// LINK-LABEL: func.func @constants
// LINK-NEXT:    relay.fused @fused_add_1(%p0 = %x : tensor<4xf32>)
// LINK-NEXT:      %k = relay.constant
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %s = relay.add(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// A reshape after a convolution is a separate group, marked as moving no data.
// CHECK-LABEL: func.func @reshape
// CHECK:         relay.fused @fused_nn_conv2d_1(
// CHECK:         relay.fused @fused_nn_batch_flatten({{.*}}attributes {pattern = "kInjective", relay.reshape_only}
func.func @reshape(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x128xf32> {
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %f = relay.nn.batch_flatten(%c) : (tensor<1x8x4x4xf32>) -> tensor<1x128xf32>
  func.return %f : tensor<1x128xf32>
}

// A returned tuple stays outside; the tuple of a concatenation fuses with it.
// CHECK-LABEL: func.func @tuples
// CHECK-NEXT:    %[[C:.*]] = relay.fused @fused_concatenate(%p0 = %x : tensor<4xf32>, %p1 = %y : tensor<8xf32>)
// CHECK-NEXT:      relay.tuple(%p0, %p1)
// CHECK-NEXT:      relay.concatenate
// CHECK:         %{{.*}} = relay.tuple(%[[C]], %x)
func.func @tuples(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tuple<tensor<12xf32>, tensor<4xf32>> {
  %t = relay.tuple(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>
  %c = relay.concatenate(%t) : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<12xf32>
  %r = relay.tuple(%c, %x) : (tensor<12xf32>, tensor<4xf32>) -> tuple<tensor<12xf32>, tensor<4xf32>>
  func.return %r : tuple<tensor<12xf32>, tensor<4xf32>>
}

// Fields of another group's tuple are taken outside, and are tensor parameters.
// CHECK-LABEL: func.func @fields
// CHECK:         %[[T:.*]] = relay.fused @fused_split(
// CHECK:         %[[I:.*]] = relay.tuple_get_item(%[[T]]) {index = 0}
// CHECK:         relay.fused @fused_nn_relu(%p0 = %[[I]] : tensor<2xf32>)
func.func @fields(%x: tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
  %t = relay.split(%x) {indices_or_sections = 2} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %a = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %b = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %c = relay.nn.relu(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %r = relay.tuple(%c, %b) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  func.return %r : tuple<tensor<2xf32>, tensor<2xf32>>
}

// stop_fusion separates its sides and is removed.
// CHECK-LABEL: func.func @wall
// CHECK:         %[[E:.*]] = relay.fused @fused_exp(
// CHECK:         relay.fused @fused_sigmoid(%p0 = %[[E]]
// CHECK-NOT:     stop_fusion
func.func @wall(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %w = relay.annotation.stop_fusion(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.sigmoid(%w) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// The position of an op does not matter: an op that only a branch uses fuses in the branch; shared ops stay outside.
// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %[[T:.*]] = relay.fused @fused_tanh(
// CHECK:         relay.if
// CHECK-NEXT:      relay.fused @fused_exp_multiply_sigmoid(%p0 = %x : {{.*}}, %p1 = %[[T]] :
// CHECK:         } else {
// CHECK-NEXT:      relay.yield %[[T]]
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %n = relay.multiply(%e, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = relay.sigmoid(%n) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  } else {
    relay.yield %t : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// A closure is a value, and its body is fused like a branch.
// CHECK-LABEL: func.func @closure
// CHECK-NEXT:    relay.fn
// CHECK-NEXT:      relay.fused @fused_exp_add(%p0 = %x : tensor<4xf32>, %p1 = %a : tensor<4xf32>)
// CHECK:         relay.invoke
func.func @closure(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> {
    %s = relay.add(%e, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %r = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Unused ops are not part of the expression: they do not prevent fusion, and are removed.
// CHECK-LABEL: func.func @unneeded
// CHECK-NEXT:    relay.fused @fused_exp_negative(
// CHECK-NOT:     relay.tanh
// CHECK:         func.return
func.func @unneeded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tanh(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %n = relay.negative(%e) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}

// Kernels are unchanged.
// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT:    relay.exp
func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// A loop is a barrier: outer values that its body uses are computed once, outside, and its results are complete.
// Inside of the body ops fuse as elsewhere.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT:    %[[E:.*]] = relay.fused @fused_exp
// CHECK:         %[[L:.*]] = relay.loop(%i, %s = %x
// CHECK-NEXT:      relay.fused @fused_add_tanh{{[^(]*}}(%p0 = %s : {{[^,]*}}, %p1 = %[[E]] :
// CHECK:           relay.tuple
// CHECK:         %[[G:.*]] = relay.tuple_get_item(%[[L]])
// CHECK-NEXT:    relay.fused @fused_negative{{[^(]*}}(%p0 = %[[G]] :
func.func @loop(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %a = relay.add(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tanh(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%t) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %g = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %o = relay.negative(%g) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %o : tensor<4xf32>
}

// Composite ops have Relay's patterns: resizing by factors is injective, a log_softmax fuses with elementwise ops
// after it.
// CHECK-LABEL: @composite_patterns(
// CHECK:         relay.fused @fused_nn_upsampling_concatenate_nn_relu(
// CHECK:         relay.fused @fused_nn_log_softmax_exp(
// CHECK:         relay.fused @fused_nn_fast_softmax_add(
func.func @composite_patterns(%x: tensor<1x2x4x4xf32>, %s: tensor<1x2x8x8xf32>, %v: tensor<4x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %u = relay.nn.upsampling(%x) {scale_h = 2.0, scale_w = 2.0} : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32>
  %t = relay.tuple(%u, %s) : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tuple<tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>>
  %c = relay.concatenate(%t) {axis = 1} : (tuple<tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>>) -> tensor<1x4x8x8xf32>
  %r = relay.nn.relu(%c) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %l = relay.nn.log_softmax(%v) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = relay.exp(%l) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %f = relay.nn.fast_softmax(%v) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = relay.add(%f, %v) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r, %e, %a : tensor<1x4x8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
