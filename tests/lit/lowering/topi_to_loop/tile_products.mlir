// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=cascadelake -mattr=+amx-tile,+amx-int8 -num-threads=2"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=cascadelake -num-threads=2"}' | filecheck %s --check-prefix VECTORS
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=cascadelake -mattr=+amx-tile,+amx-int8 -num-threads=2"},loop-apply-schedules,loop-lower-blocks' | filecheck %s --check-prefix TAIL

// The rows of the consumer are not unrolled.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: split("y_i", 16, names = ["y_i_o", "y_i_i"])
// CHECK-SAME: contract("matmul_t", "matmul_j_l"), unroll("matmul_i"), unroll("matmul_j_v"), disable_unroll("matmul_k"), tensorize("matmul_k", "tdpbusd")
// CHECK-NOT: unroll("y_i_i")
// CHECK-SAME: 16 rows x 4 vectors of 16 columns = tiles of tdpbusd
// VECTORS-LABEL: func.func private @rows
// VECTORS-NOT: tensorize
func.func private @rows(%x: tensor<128x256xui8>, %w: tensor<8x64x16x4xi8>) -> tensor<128x128xf32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<128x256xui8>, tensor<8x64x16x4xi8>) -> tensor<128x128xi32>
  %y = topi.compute "y" [%i : 128, %j : 128] : tensor<128x128xf32> {
    %0 = topi.read %r[%i, %j] : tensor<128x128xi32>
    %1 = arith.sitofp %0 : i32 to f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<128x128xf32>
}

// The last tile has 16 rows, too. Two tiles of rows and two of columns are in registers. The loop over the tiles of rows
// is cut before the last tile, so it is not fused with that over columns.
// CHECK-LABEL: func.func private @uneven
// CHECK-NOT: fuse(
// CHECK-SAME: parallelize("matmul_write_1_o")]
// CHECK-SAME: 24 rows x 2 vectors of 16 columns = tiles of tdpbusd
func.func private @uneven(%x: tensor<40x256xui8>, %w: tensor<8x64x16x4xi8>) -> tensor<40x128xi32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<40x256xui8>, tensor<8x64x16x4xi8>) -> tensor<40x128xi32>
  func.return %r : tensor<40x128xi32>
}

// Tiles of three vectors divide the six.
// CHECK-LABEL: func.func private @six
// CHECK-SAME: 16 rows x 3 vectors of 16 columns = tiles of tdpbusd
func.func private @six(%x: tensor<48x256xui8>, %w: tensor<6x64x16x4xi8>) -> tensor<48x96xi32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<48x256xui8>, tensor<6x64x16x4xi8>) -> tensor<48x96xi32>
  func.return %r : tensor<48x96xi32>
}

// Few rows have no full tile.
// CHECK-LABEL: func.func private @few
// CHECK-NOT: tensorize
func.func private @few(%x: tensor<8x256xui8>, %w: tensor<8x64x16x4xi8>) -> tensor<8x128xi32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<8x256xui8>, tensor<8x64x16x4xi8>) -> tensor<8x128xi32>
  func.return %r : tensor<8x128xi32>
}

// A tile has as many steps as divide those of a sum; one or two gain nothing.
// CHECK-LABEL: func.func private @prime
// CHECK-NOT: tensorize
func.func private @prime(%x: tensor<128x148xui8>, %w: tensor<8x37x16x4xi8>) -> tensor<128x128xi32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<128x148xui8>, tensor<8x37x16x4xi8>) -> tensor<128x128xi32>
  func.return %r : tensor<128x128xi32>
}

// A tile for dynamic rows has 16 of them. The rest is a full tile of copied rows.
// CHECK-LABEL: func.func private @dynamic
// CHECK-SAME: 16 rows x 4 vectors of 16 columns = tiles of tdpbusd
// TAIL-LABEL: func.func private @dynamic
// TAIL: %rest = memref.alloc() : memref<16x256xui8, "local">
// TAIL: loop.for "k" %{{.*}} to 64 tensorized unroll = disable {
// TAIL-NEXT: loop.for "i" %{{.*}} to 16 unrolled {
// TAIL: loop.for "k_tail" %{{.*}} to 64 tensorized unroll = disable {
// TAIL-NEXT: loop.for "i_tail" %{{.*}} to 16 unrolled {
// TAIL: loop.load %rest[
func.func private @dynamic(%x: tensor<?x256xui8, #relay.dims<n>>, %w: tensor<8x64x16x4xi8>) -> tensor<?x128xi32, #relay.dims<n>> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<?x256xui8, #relay.dims<n>>, tensor<8x64x16x4xi8>) -> tensor<?x128xi32, #relay.dims<n>>
  func.return %r : tensor<?x128xi32, #relay.dims<n>>
}

// The columns and rows of a tile divide those of the image. The groups of terms are innermost in the reduction, and the
// positions of the consumer are not unrolled.
// CHECK-LABEL: func.func private @taps
// CHECK-SAME: split("conv2d_write_2", 2,
// CHECK-SAME: split("conv2d_write_4", 32,
// CHECK-SAME: reorder("ko", "y", "kq", "h", "w", "ci_v", "ci_l", "t")
// CHECK-SAME: tensorize("kq", "tdpbusd")
// CHECK-NOT: unroll("conv2d_write_3")
// CHECK-SAME: 2 rows x 14 columns x 2 vectors = tiles of tdpbusd
// VECTORS-LABEL: func.func private @taps
// VECTORS-NOT: tensorize
// VECTORS-SAME: 14 columns x 2 vectors of 16 channels = 28 accumulators
func.func private @taps(%x: tensor<1x2x30x14x64xui8>, %w: tensor<1x32x3x1x64x4xi8>) -> tensor<1x1x28x14x64xi32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x2x30x14x64xui8>, tensor<1x32x3x1x64x4xi8>) -> tensor<1x1x28x14x64xi32>
  func.return %r : tensor<1x1x28x14x64xi32>
}

// Three columns are too few for a tile, and 16 bytes of the data too few for its rows.
// CHECK-LABEL: func.func private @narrow
// CHECK-NOT: tensorize
func.func private @narrow(%x: tensor<1x1x9x3x64xui8>, %w: tensor<1x16x1x1x64x4xi8>) -> tensor<1x1x9x3x64xi32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x1x9x3x64xui8>, tensor<1x16x1x1x64x4xi8>) -> tensor<1x1x9x3x64xi32>
  func.return %r : tensor<1x1x9x3x64xi32>
}

// CHECK-LABEL: func.func private @shallow
// CHECK-NOT: tensorize
func.func private @shallow(%x: tensor<1x2x8x16x8xui8>, %w: tensor<1x4x1x1x64x4xi8>) -> tensor<1x1x8x16x64xi32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x2x8x16x8xui8>, tensor<1x4x1x1x64x4xi8>) -> tensor<1x1x8x16x64xi32>
  func.return %r : tensor<1x1x8x16x64xi32>
}

// Neighbouring columns of an image of four channels are the terms of an instruction, one row of taps at a time.
// CHECK-LABEL: func.func private @image
// CHECK-SAME: reorder("y", "x", "h", "w", "ci_v", "ci_l", "t")
// CHECK-SAME: tensorize("x", "tdpbusd")
func.func private @image(%x: tensor<1x1x37x37x4xui8>, %w: tensor<1x1x7x7x64x4xi8>) -> tensor<1x1x16x16x64xi32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_terms(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x1x37x37x4xui8>, tensor<1x1x7x7x64x4xi8>) -> tensor<1x1x16x16x64xi32>
  func.return %r : tensor<1x1x16x16x64xi32>
}

// Weights of 256 KiB are prefetched, one panel in advance.
// CHECK-LABEL: func.func private @large
// CHECK-SAME: prefetch("kq"), tensorize("kq", "tdpbusd")
func.func private @large(%x: tensor<1x4x14x14x64xui8>, %w: tensor<16x64x1x1x64x4xi8>) -> tensor<1x16x14x14x64xi32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc_terms(%x, %w) : (tensor<1x4x14x14x64xui8>, tensor<16x64x1x1x64x4xi8>) -> tensor<1x16x14x14x64xi32>
  func.return %r : tensor<1x16x14x14x64xi32>
}

// A tile of depthwise filters has one vector of a block.
// CHECK-LABEL: func.func private @depthwise
// CHECK-SAME: split("conv2d_write_4", 16,
// CHECK-SAME: columns x 1 vectors of 16 channels
func.func private @depthwise(%x: tensor<1x1x16x16x48xf32>, %w: tensor<1x1x3x3x1x48xf32>) -> tensor<1x1x14x14x48xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc(%x, %w) {groups = 48 : i64} : (tensor<1x1x16x16x48xf32>, tensor<1x1x3x3x1x48xf32>) -> tensor<1x1x14x14x48xf32>
  func.return %r : tensor<1x1x14x14x48xf32>
}
