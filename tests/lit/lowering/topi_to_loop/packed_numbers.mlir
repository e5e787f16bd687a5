// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'convert-relay-to-topi,topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"},loop-apply-schedules' | filecheck %s --check-prefix APPLIED

// One row: the product unpacks the numbers itself, and each of the 8 numbers of a word has a constant shift.
// CHECK-LABEL: func.func private @row
// The scale of a block multiplies the sum of its 4 words.
// CHECK-SAME: split("k", 8, names = ["k_word", "k_number"]), split("k_word", 4, names = ["k_word_block", "k_word_word"])
// CHECK-SAME: reorder("k_word_block", "k_word_word", "k_number",
// CHECK-SAME: unroll("k_number")
// CHECK-SAME: disable_unroll("k_word_word"), partial_sums("matmul", "k_word_block", factors = true)
// APPLIED-LABEL: func.func private @row
// APPLIED-NOT: memref.alloc() : memref<{{.*}}x16xf32, "local">
func.func private @row(%x: tensor<1x128xf32>, %w: tensor<4x16x16xi32>, %s: tensor<4x4x16xf32>, %z: tensor<i32>) -> tensor<1x64xf32>
    attributes {relay.primitive} {
  %y = relay.qnn.block_dense(%x, %w, %s, %z) {weight_layout = "NC16n"}
      : (tensor<1x128xf32>, tensor<4x16x16xi32>, tensor<4x4x16xf32>, tensor<i32>) -> tensor<1x64xf32>
  func.return %y : tensor<1x64xf32>
}

// A tile of all rows: a vector of each column of the tile is unpacked in registers. 2 bits are 16 numbers in a word.
// CHECK-LABEL: func.func private @tile
// CHECK-SAME: split("matmul_k", 16
// CHECK-SAME: compute_at("unpack", "matmul_k_number")
// CHECK-SAME: the weight is unpacked in registers
// APPLIED-LABEL: func.func private @tile
// APPLIED: memref.alloc() : memref<{{.*}}16xf32, "local">
func.func private @tile(%x: tensor<5x128xf32>, %w: tensor<4x8x16xi32>, %s: tensor<4x4x16xf32>, %z: tensor<4x1x16xi32>) -> tensor<5x64xf32>
    attributes {relay.primitive} {
  %y = relay.qnn.block_dense(%x, %w, %s, %z) {weight_layout = "NC16n", bits = 2}
      : (tensor<5x128xf32>, tensor<4x8x16xi32>, tensor<4x4x16xf32>, tensor<4x1x16xi32>) -> tensor<5x64xf32>
  func.return %y : tensor<5x64xf32>
}

// Many rows: the columns of a tile are unpacked once, into a panel.
// CHECK-LABEL: func.func private @panel
// CHECK-SAME: split("unpack_i1", 8
// CHECK-SAME: unroll("unpack_i1_number")
// CHECK-SAME: the columns of a tile are unpacked for all rows
// APPLIED-LABEL: func.func private @panel
// APPLIED: memref.alloc() : memref<{{.*}}x128x16xf32, "local">
func.func private @panel(%x: tensor<100x128xf32>, %w: tensor<8x16x16xi32>, %s: tensor<8x4x16xf32>, %z: tensor<i32>) -> tensor<100x128xf32>
    attributes {relay.primitive} {
  %y = relay.qnn.block_dense(%x, %w, %s, %z) {weight_layout = "NC16n"}
      : (tensor<100x128xf32>, tensor<8x16x16xi32>, tensor<8x4x16xf32>, tensor<i32>) -> tensor<100x128xf32>
  func.return %y : tensor<100x128xf32>
}

// The panel of a weight that is larger than the L2 cache in f32 is unpacked, and no next panel is prefetched.
// CHECK-LABEL: func.func private @large
// CHECK-NOT: prefetch(
// CHECK: the columns of a tile are unpacked for all rows
// APPLIED-LABEL: func.func private @large
func.func private @large(%x: tensor<100x1024xf32>, %w: tensor<64x256x16xi32>, %s: tensor<64x1x16xf32>, %z: tensor<i32>) -> tensor<100x1024xf32>
    attributes {relay.primitive} {
  %y = relay.qnn.block_dense(%x, %w, %s, %z) {weight_layout = "NC16n", bits = 8, block_size = 1024}
      : (tensor<100x1024xf32>, tensor<64x256x16xi32>, tensor<64x1x16xf32>, tensor<i32>) -> tensor<100x1024xf32>
  func.return %y : tensor<100x1024xf32>
}
