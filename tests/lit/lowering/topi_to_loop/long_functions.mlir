// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-expand-named,convert-topi-to-loop,loop-schedule-kernels{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s --check-prefix=WHY

// erf is a function of many steps: the tile is copied to memory, and a loop over its rows computes the function.
// WHY-LABEL:   func.func private @erf_of_dense
// WHY-SAME:    the sums are stored, because erf computes a function of many steps
// CHECK-LABEL: func.func private @erf_of_dense
// CHECK:       loop.for "matmul_write_0" %{{.*}} to 13 unrolled
// CHECK:       loop.for "erf_i0_i" %{{[a-z0-9_]*}} to 13 {
// CHECK:       math.erf
func.func private @erf_of_dense(%x: tensor<26x768xf32>, %w: tensor<4x768x16xf32>) -> tensor<26x64xf32> attributes {relay.primitive} {
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<26x768xf32>, tensor<4x768x16xf32>) -> tensor<26x64xf32>
  %e = relay.erf(%y) : (tensor<26x64xf32>) -> tensor<26x64xf32>
  func.return %e : tensor<26x64xf32>
}

// A convolution too: the columns and blocks of its tile are loops.
// WHY-LABEL:   func.func private @sigmoid_of_convolution
// WHY-SAME:    the sums are stored, because sigmoid computes a function of many steps
// CHECK-LABEL: func.func private @sigmoid_of_convolution
// CHECK:       loop.for "conv2d_write_3" %{{.*}} to 14 unrolled
// CHECK:       loop.for "sigmoid_i3_i" %{{[a-z0-9_]*}} to 14 {
func.func private @sigmoid_of_convolution(%x: tensor<1x4x28x28x16xf32>, %w: tensor<4x4x1x1x16x16xf32>) -> tensor<1x4x28x28x16xf32> attributes {relay.primitive} {
  %y = relay.nn.conv2d(%x, %w) {channels = 64, data_layout = "NCHW16c", kernel_layout = "OIHW16i16o", kernel_size = [1, 1], out_layout = "NCHW16c"} : (tensor<1x4x28x28x16xf32>, tensor<4x4x1x1x16x16xf32>) -> tensor<1x4x28x28x16xf32>
  %s = relay.sigmoid(%y) : (tensor<1x4x28x28x16xf32>) -> tensor<1x4x28x28x16xf32>
  func.return %s : tensor<1x4x28x28x16xf32>
}

// relu is one instruction: it is computed in registers.
// WHY-LABEL:   func.func private @relu_of_dense
// CHECK-LABEL: func.func private @relu_of_dense
// CHECK-NOT:   matmul_write
// CHECK:       loop.for "nn_relu_i0_i" %{{[a-z0-9_]*}} to 13 unrolled
func.func private @relu_of_dense(%x: tensor<26x768xf32>, %w: tensor<4x768x16xf32>) -> tensor<26x64xf32> attributes {relay.primitive} {
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<26x768xf32>, tensor<4x768x16xf32>) -> tensor<26x64xf32>
  %e = relay.nn.relu(%y) : (tensor<26x64xf32>) -> tensor<26x64xf32>
  func.return %e : tensor<26x64xf32>
}
