// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=8"}' | filecheck %s --check-prefix THREADS
// RUN: xrelay explain schedule %s --kernel single | filecheck %s --check-prefix SINGLE

// The scores of 64 queries take 256 KB. The mask is added where the scores are computed, and the transposed keys are
// copied once for each head.
// CHECK-LABEL: func.func private @attention
// CHECK-SAME: cache_read("batch_matmul", 1, last = 2), cache_write("batch_matmul_1")
// CHECK-SAME: split("batch_matmul_1_write_2", 64, names = ["batch_matmul_1_write_2_b", "batch_matmul_1_write_2_q"])
// CHECK-SAME: compute_at("batch_matmul_1", "batch_matmul_1_write_2_q_o")
// CHECK-SAME: compute_at("softmax", "batch_matmul_1_write_2_b")
// CHECK-SAME: compute_at("softmax_scale", "softmax_i2")
// CHECK-SAME: compute_at("softmax_sum", "softmax_i2")
// CHECK-SAME: compute_at("softmax_exp", "softmax_i2")
// CHECK-SAME: compute_at("softmax_max", "softmax_i2")
// CHECK-SAME: compute_at("mask", "batch_matmul_1_write_2_b")
// CHECK-SAME: compute_at("batch_matmul", "mask_i_o")
// CHECK-SAME: compute_at("batch_matmul_read1", "batch_matmul_1_write_1")
// CHECK-SAME: attention: {{.*}}all stages are computed for blocks of 64 queries
// THREADS-LABEL: func.func private @attention
// THREADS-SAME: parallelize(
func.func private @attention(%q: tensor<1x8x512x64xf32>, %k: tensor<1x8x1024x64xf32>, %v: tensor<1x8x1024x64xf32>, %m: tensor<1024xf32>) -> tensor<1x8x512x64xf32> attributes {relay.primitive} {
  %s = topi.batch_matmul(%q, %k) {transpose_right = true} : (tensor<1x8x512x64xf32>, tensor<1x8x1024x64xf32>) -> tensor<1x8x512x1024xf32>
  %a = topi.compute "mask" [%b : 1, %h : 8, %i : 512, %j : 1024] : tensor<1x8x512x1024xf32> {
    %0 = topi.read %s[%b, %h, %i, %j] : tensor<1x8x512x1024xf32>
    %1 = topi.read %m[%j] : tensor<1024xf32>
    %2 = arith.addf %0, %1 : f32
    topi.yield %2 : f32
  }
  %w = topi.softmax(%a) {axis = 3 : i64} : (tensor<1x8x512x1024xf32>) -> tensor<1x8x512x1024xf32>
  %y = topi.batch_matmul(%w, %v) : (tensor<1x8x512x1024xf32>, tensor<1x8x1024x64xf32>) -> tensor<1x8x512x64xf32>
  func.return %y : tensor<1x8x512x64xf32>
}

// A single matrix has a loop over blocks too, and its keys are not transposed.
// CHECK-LABEL: func.func private @one
// CHECK-NOT: cache_read
// CHECK-SAME: split("batch_matmul_1_write_0", 32, names = ["batch_matmul_1_write_0_b", "batch_matmul_1_write_0_q"])
// CHECK-SAME: blocks of 32 queries
func.func private @one(%q: tensor<32x16xf32>, %k: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> tensor<32x16xf32> attributes {relay.primitive} {
  %s = topi.batch_matmul(%q, %k) : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  %w = topi.softmax(%s) {axis = 1 : i64} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = topi.batch_matmul(%w, %v) : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  func.return %y : tensor<32x16xf32>
}

// A dynamic number of queries is one block for each matrix.
// CHECK-LABEL: func.func private @dynamic
// CHECK-NOT: _b"
// CHECK-SAME: compute_at("softmax", "batch_matmul_1_write_0")
// CHECK-SAME: attention: {{.*}}all stages are computed for all queries
func.func private @dynamic(%q: tensor<8x?x64xf32, #relay.dims<n>>) -> tensor<8x?x64xf32, #relay.dims<n>> attributes {relay.primitive} {
  %s = topi.batch_matmul(%q, %q) {transpose_right = true} : (tensor<8x?x64xf32, #relay.dims<n>>, tensor<8x?x64xf32, #relay.dims<n>>) -> tensor<8x?x?xf32, #relay.dims<n, n>>
  %w = topi.softmax(%s) {axis = 2 : i64} : (tensor<8x?x?xf32, #relay.dims<n, n>>) -> tensor<8x?x?xf32, #relay.dims<n, n>>
  %y = topi.batch_matmul(%w, %q) : (tensor<8x?x?xf32, #relay.dims<n, n>>, tensor<8x?x64xf32, #relay.dims<n>>) -> tensor<8x?x64xf32, #relay.dims<n>>
  func.return %y : tensor<8x?x64xf32, #relay.dims<n>>
}

// One query and one key: the softmax has no loops over them.
// SINGLE: @single
// SINGLE-NOT: attention
// SINGLE: * {{.*}}reduction
// CHECK-LABEL: func.func private @single
// CHECK-NOT: attention
// CHECK-SAME: batch_matmul
func.func private @single(%q: tensor<8x1x64xf32>, %k: tensor<8x64x1xf32>, %v: tensor<8x1x64xf32>) -> tensor<8x1x64xf32> attributes {relay.primitive} {
  %s = topi.batch_matmul(%q, %k) : (tensor<8x1x64xf32>, tensor<8x64x1xf32>) -> tensor<8x1x1xf32>
  %w = topi.softmax(%s) {axis = 2 : i64} : (tensor<8x1x1xf32>) -> tensor<8x1x1xf32>
  %y = topi.batch_matmul(%w, %v) : (tensor<8x1x1xf32>, tensor<8x1x64xf32>) -> tensor<8x1x64xf32>
  func.return %y : tensor<8x1x64xf32>
}
