// RUN: xrelay-opt %s -p 'topi-expand-named,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"}' | filecheck %s

// Columns of the result are vectors of the packed weight; a panel of it stays in the cache while rows pass.
// CHECK-LABEL: func.func private @dense
// CHECK-SAME: compute_at("matmul", "matmul_write_0_o"), split("j", 16, names = ["j_v", "j_l"]), split("k", 4, names = ["k_o", "k_u"]), reorder("k_o", "k_u", "i", "j_v", "j_l"), vectorize("j_l")
// CHECK-SAME: rows x
func.func private @dense(%x: tensor<128x768xf32>, %w: tensor<192x768x16xf32>) -> tensor<128x3072xf32> {
  %r = topi.matmul(%x, %w) : (tensor<128x768xf32>, tensor<192x768x16xf32>) -> tensor<128x3072xf32>
  func.return %r : tensor<128x3072xf32>
}

// Rows of the left operand are 4096 bytes apart, so the L1 cache has room for the lines of 8 of them.
// CHECK-LABEL: func.func private @dense_of_far_rows
// CHECK-SAME: 8 rows x
func.func private @dense_of_far_rows(%x: tensor<128x1024xf32>, %w: tensor<192x1024x16xf32>) -> tensor<128x3072xf32> {
  %r = topi.matmul(%x, %w) : (tensor<128x1024xf32>, tensor<192x1024x16xf32>) -> tensor<128x3072xf32>
  func.return %r : tensor<128x3072xf32>
}

// CHECK-LABEL: func.func private @dense_plain
// CHECK-SAME: dense: the right operand is transposed, for 6 rows only; lanes run along the terms of a sum
func.func private @dense_plain(%x: tensor<6x256xf32>, %w: tensor<32x256xf32>) -> tensor<6x32xf32> {
  %r = topi.matmul(%x, %w) : (tensor<6x256xf32>, tensor<32x256xf32>) -> tensor<6x32xf32>
  func.return %r : tensor<6x32xf32>
}

// A sum of few terms does not fill vectors: the operand is copied even for few rows.
// CHECK-LABEL: func.func private @short_sums
// CHECK-SAME: dense: the right operand is transposed: its columns are copied side by side
func.func private @short_sums(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>) -> tensor<8x32xf32> {
  %r = topi.matmul(%x, %w) : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
  func.return %r : tensor<8x32xf32>
}

// CHECK-LABEL: func.func private @scores
// CHECK-SAME: cache_read("batch_matmul", 1, last = 1)
// CHECK-SAME: compute_at("batch_matmul_read1", "batch_matmul_write_2_o")
func.func private @scores(%x: tensor<12x128x64xf32>, %y: tensor<12x128x64xf32>) -> tensor<12x128x128xf32> {
  %r = topi.batch_matmul(%x, %y) {transpose_right = true} : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
  func.return %r : tensor<12x128x128xf32>
}

// A large matrix is copied once by tiles of columns, and all matrices of the left stack use the copy.
// CHECK-LABEL: func.func private @projection
// CHECK-SAME: reorder("batch_matmul_write_2_o", "batch_matmul_write_0", "batch_matmul_write_1_o"
// CHECK-SAME: compute_at("batch_matmul_read1", "batch_matmul_write_2_o")
// CHECK-SAME: the right operand is large
func.func private @projection(%x: tensor<8x197x768xf32>, %y: tensor<768x3072xf32>) -> tensor<8x197x3072xf32> {
  %r = topi.batch_matmul(%x, %y) : (tensor<8x197x768xf32>, tensor<768x3072xf32>) -> tensor<8x197x3072xf32>
  func.return %r : tensor<8x197x3072xf32>
}

// Lines 4096 bytes apart map to the same cache sets: the left operand is transposed.
// CHECK-LABEL: func.func private @both_transposed
// CHECK-SAME: cache_read("batch_matmul", 0, last = 0)
// CHECK-SAME: cache_read("batch_matmul", 1, last = 0)
func.func private @both_transposed(%x: tensor<512x2048xf32>, %y: tensor<256x512xf32>) -> tensor<2048x256xf32> {
  %r = topi.batch_matmul(%x, %y) {transpose_left = true, transpose_right = true} : (tensor<512x2048xf32>, tensor<256x512xf32>) -> tensor<2048x256xf32>
  func.return %r : tensor<2048x256xf32>
}

// The copy is not worth its time for one or two tiles of columns.
// CHECK-LABEL: func.func private @few_tiles
// CHECK-NOT: cache_read("batch_matmul", 0
// CHECK-SAME: rows x
func.func private @few_tiles(%x: tensor<512x1024xf32>, %y: tensor<512x64xf32>) -> tensor<1024x64xf32> {
  %r = topi.batch_matmul(%x, %y) {transpose_left = true} : (tensor<512x1024xf32>, tensor<512x64xf32>) -> tensor<1024x64xf32>
  func.return %r : tensor<1024x64xf32>
}

// Matrices of one row each: a tile has the rows of the stack.
// CHECK-LABEL: func.func private @rows_of_a_stack
// CHECK-SAME: split("batch_matmul_write_0", 12,
// CHECK-SAME: 12 rows x 2 vectors
func.func private @rows_of_a_stack(%x: tensor<60x1x96xf32>, %y: tensor<96x256xf32>) -> tensor<60x1x256xf32> {
  %r = topi.batch_matmul(%x, %y) : (tensor<60x1x96xf32>, tensor<96x256xf32>) -> tensor<60x1x256xf32>
  func.return %r : tensor<60x1x256xf32>
}

// CHECK-LABEL: func.func private @few_columns
// CHECK-SAME: batch_matmul: 3 columns are too few for lanes; lanes run along the terms of a sum
func.func private @few_columns(%x: tensor<64x64xf32>, %y: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %r = topi.batch_matmul(%x, %y) : (tensor<64x64xf32>, tensor<64x3xf32>) -> tensor<64x3xf32>
  func.return %r : tensor<64x3xf32>
}

// CHECK-LABEL: func.func private @plain_conv
// CHECK-SAME: conv2d_nchw: {{.*}}8 filters x 16 columns
func.func private @plain_conv(%x: tensor<1x3x34x34xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x8x32x32xf32> {
  %r = topi.conv2d_nchw(%x, %w) : (tensor<1x3x34x34xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x32x32xf32>
  func.return %r : tensor<1x8x32x32xf32>
}

// CHECK-LABEL: func.func private @pool
// CHECK-SAME: reorder("y", "x", "ci"), vectorize("ci")
// CHECK-SAME: pool: 16 lanes along ci
func.func private @pool(%x: tensor<1x4x9x9x16xf32>) -> tensor<1x4x5x5x16xf32> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x4x9x9x16xf32>) -> tensor<1x4x5x5x16xf32>
  func.return %r : tensor<1x4x5x5x16xf32>
}

// A plane of a plain image is padded when its windows are read.
// CHECK-LABEL: func.func private @pool_of_planes
// CHECK-SAME: parallelize("[[PLANES:[a-z_0-9]*]]"), compute_at("pad", "[[PLANES]]")
// CHECK-SAME: pad is computed for each plane of [[PLANES]]
func.func private @pool_of_planes(%x: tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  func.return %r : tensor<1x32x28x28xf32>
}

// LLVM vectorises the padded rows of a plane of dynamic size.
// CHECK-LABEL: func.func private @pool_of_dynamic_planes
// CHECK-SAME: compute_at("pad", "[[PLANES:[a-z_0-9]*]]")]
// CHECK-SAME: pad is computed for each plane of [[PLANES]]
func.func private @pool_of_dynamic_planes(%x: tensor<1x32x?x?xf32, #relay.dims<h, w>>) -> tensor<1x32x?x?xf32, #relay.dims<h, w>> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x?x?xf32, #relay.dims<h, w>>) -> tensor<1x32x?x?xf32, #relay.dims<h, w>>
  func.return %r : tensor<1x32x?x?xf32, #relay.dims<h, w>>
}

// LLVM vectorises a row of dynamic length, whose taps have conditions. Windows along the columns have none.
// CHECK-LABEL: func.func private @pool_of_rows
// CHECK-SAME: loop.schedule = #loop.schedule<[parallelize("max_pool2d_c"), cache_write("max_pool2d_1"),
// CHECK-SAME: max_pool2d_1 accumulates in registers
func.func private @pool_of_rows(%x: tensor<1x32x?x?xf32, #relay.dims<h, w>>) -> tensor<1x32x?x?xf32, #relay.dims<h, w>> {
  %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 1, 5>, padding = array<i64: 0, 2, 0, 2>}
    : (tensor<1x32x?x?xf32, #relay.dims<h, w>>) -> tensor<1x32x?x?xf32, #relay.dims<h, w>>
  %y = topi.pool2d(%r) {kind = "max", kernel = array<i64: 5, 1>, padding = array<i64: 2, 0, 2, 0>}
    : (tensor<1x32x?x?xf32, #relay.dims<h, w>>) -> tensor<1x32x?x?xf32, #relay.dims<h, w>>
  func.return %y : tensor<1x32x?x?xf32, #relay.dims<h, w>>
}

// The loop over the window is outside of the columns, and a row is padded once for all of its places.
// CHECK-LABEL: func.func private @pool_along_one_axis
// CHECK-SAME: compute_at("pad", "max_pool1d_c")
func.func private @pool_along_one_axis(%x: tensor<1x3x7xf32>) -> tensor<1x3x4xf32> {
  %r = topi.pool1d(%x) {kind = "max", kernel = array<i64: 2>, strides = array<i64: 2>, padding = array<i64: 0, 1>}
    : (tensor<1x3x7xf32>) -> tensor<1x3x4xf32>
  func.return %r : tensor<1x3x4xf32>
}

// All stages of a row are computed while it is in the cache.
// CHECK-LABEL: func.func private @softmax
// CHECK-SAME: compute_at("softmax_sum", "softmax_i0"), compute_at("softmax_exp", "softmax_i0"), compute_at("softmax_max", "softmax_i0")
// CHECK-SAME: parallelize("softmax_i0")
func.func private @softmax(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  func.return %r : tensor<64x1024xf32>
}

// Exponentials of long rows are stored in the rows of the result, also of one row; those of another type are not.
// CHECK-LABEL: func.func private @long_softmax
// CHECK-SAME: compute_at("softmax_max", "softmax_i0"), share_result("softmax_exp")
// CHECK-LABEL: func.func private @long_row
// CHECK-SAME: share_result("softmax_exp")
// CHECK-LABEL: func.func private @long_halves
// CHECK-NOT: share_result
// CHECK: func.return
func.func private @long_softmax(%x: tensor<64x50000xf32>) -> tensor<64x50000xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<64x50000xf32>) -> tensor<64x50000xf32>
  func.return %r : tensor<64x50000xf32>
}

func.func private @long_row(%x: tensor<1x50000xf32>) -> tensor<1x50000xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<1x50000xf32>) -> tensor<1x50000xf32>
  func.return %r : tensor<1x50000xf32>
}

func.func private @long_halves(%x: tensor<64x50000xf32>) -> tensor<64x50000xf16> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<64x50000xf32>) -> tensor<64x50000xf32>
  %h = topi.compute "half" [%i : 64, %j : 50000] : tensor<64x50000xf16> {
    %a = topi.read %r[%i, %j] : tensor<64x50000xf32>
    %b = arith.truncf %a : f32 to f16
    topi.yield %b : f16
  }
  func.return %h : tensor<64x50000xf16>
}

// So are those of any kernel that reads rows again, with the terms of a row in one loop.
// CHECK-LABEL: func.func private @center
// CHECK-SAME: compute_at("max", "center_i"), fuse("max_j", "max_k", name = "max_j_max_k")
// CHECK-SAME: parallelize("center_i")
func.func private @center(%x: tensor<64x32x64xf32>) -> tensor<64x32x64xf32> {
  %m = topi.compute "max" [%i : 64, %u : 1, %v : 1] reduce [%j : 32, %k : 64] init [%acc = 0xff800000 : f32] : tensor<64x1x1xf32> {
    %a = topi.read %x[%i, %j, %k] : tensor<64x32x64xf32>
    %s = arith.maximumf %acc, %a : f32
    topi.yield %s : f32
  }
  %r = topi.compute "center" [%i : 64, %j : 32, %k : 64] : tensor<64x32x64xf32> {
    %a = topi.read %x[%i, %j, %k] : tensor<64x32x64xf32>
    %b = topi.read %m[%i, 0, 0] : tensor<64x1x1xf32>
    %c = arith.subf %a, %b : f32
    topi.yield %c : f32
  }
  func.return %r : tensor<64x32x64xf32>
}

// Four short rows are computed at once, if their number is a multiple.
// CHECK-LABEL: func.func private @short_softmax
// CHECK-SAME: split("softmax_i0", 4, names = ["softmax_i0_o", "softmax_i0_i"]), compute_at("softmax_scale", "softmax_i0_o"), compute_at("softmax_sum", "softmax_i0_o"), compute_at("softmax_exp", "softmax_i0_o"), compute_at("softmax_max", "softmax_i0_o")
// CHECK-SAME: split("softmax_exp_i1", 16, {{.*}}), vectorize("softmax_exp_i1_v")
// CHECK-SAME: 4 stages are computed for each group of 4 rows of softmax_i0_o
// CHECK-LABEL: func.func private @odd_softmax
// CHECK-SAME: compute_at("softmax_max", "softmax_i0")
func.func private @short_softmax(%x: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<64x40xf32>) -> tensor<64x40xf32>
  func.return %r : tensor<64x40xf32>
}

func.func private @odd_softmax(%x: tensor<63x40xf32>) -> tensor<63x40xf32> {
  %r = topi.softmax(%x) {axis = 1 : i64} : (tensor<63x40xf32>) -> tensor<63x40xf32>
  func.return %r : tensor<63x40xf32>
}

// Each lane has its own sum of exponentials: four vectors in a row of 1024, one in a row of 80, none in a row of 90.
// CHECK-LABEL: func.func private @sum_of_exponentials
// CHECK-SAME: split("sum_k", 64, names = ["sum_k_o", "sum_k_i"]), rfactor("sum", "sum_k_i"), compute_at("sum_total", "scaled_i"), compute_at("sum", "scaled_i"), {{.*}}split("sum_k_i", 16, {{.*}}), vectorize("sum_k_i_v"), unroll("sum_k_i_o")
// CHECK-LABEL: func.func private @sum_of_80
// CHECK-SAME: split("sum_k", 16, names = ["sum_k_o", "sum_k_i"]), rfactor("sum", "sum_k_i")
// CHECK-LABEL: func.func private @sum_of_90
// CHECK-NOT: rfactor
// CHECK: func.return
func.func private @sum_of_exponentials(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %s = topi.compute "sum" [%i : 64] reduce [%k : 1024] init [%acc = 0.0 : f32] : tensor<64xf32> {
    %a = topi.read %x[%i, %k] : tensor<64x1024xf32>
    %e = math.exp %a : f32
    %t = arith.addf %acc, %e fastmath<reassoc> : f32
    topi.yield %t : f32
  }
  %r = topi.compute "scaled" [%i : 64, %j : 1024] : tensor<64x1024xf32> {
    %a = topi.read %x[%i, %j] : tensor<64x1024xf32>
    %b = topi.read %s[%i] : tensor<64xf32>
    %c = arith.mulf %a, %b : f32
    topi.yield %c : f32
  }
  func.return %r : tensor<64x1024xf32>
}

func.func private @sum_of_80(%x: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %s = topi.compute "sum" [%i : 64] reduce [%k : 80] init [%acc = 0.0 : f32] : tensor<64xf32> {
    %a = topi.read %x[%i, %k] : tensor<64x80xf32>
    %e = math.exp %a : f32
    %t = arith.addf %acc, %e fastmath<reassoc> : f32
    topi.yield %t : f32
  }
  %r = topi.compute "scaled" [%i : 64, %j : 80] : tensor<64x80xf32> {
    %a = topi.read %x[%i, %j] : tensor<64x80xf32>
    %b = topi.read %s[%i] : tensor<64xf32>
    %c = arith.mulf %a, %b : f32
    topi.yield %c : f32
  }
  func.return %r : tensor<64x80xf32>
}

func.func private @sum_of_90(%x: tensor<64x90xf32>) -> tensor<64x90xf32> {
  %s = topi.compute "sum" [%i : 64] reduce [%k : 90] init [%acc = 0.0 : f32] : tensor<64xf32> {
    %a = topi.read %x[%i, %k] : tensor<64x90xf32>
    %e = math.exp %a : f32
    %t = arith.addf %acc, %e fastmath<reassoc> : f32
    topi.yield %t : f32
  }
  %r = topi.compute "scaled" [%i : 64, %j : 90] : tensor<64x90xf32> {
    %a = topi.read %x[%i, %j] : tensor<64x90xf32>
    %b = topi.read %s[%i] : tensor<64xf32>
    %c = arith.mulf %a, %b : f32
    topi.yield %c : f32
  }
  func.return %r : tensor<64x90xf32>
}

// Lanes of a reduction are the elements of its result if these are adjacent.
// CHECK-LABEL: func.func private @column_sums
// CHECK-SAME: reorder("i", "k"), split("k", 16, names = ["k_o", "k_v"]), vectorize("k_v"), unroll("k_o")
func.func private @column_sums(%x: tensor<50x320xf32>) -> tensor<320xf32> {
  %r = topi.compute "sum" [%k : 320] reduce [%i : 50] init [%acc = 0.0 : f32] : tensor<320xf32> {
    %a = topi.read %x[%i, %k] : tensor<50x320xf32>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<320xf32>
}

// Left alone: too little work for threads; a transposition has no lanes.
// CHECK-LABEL: func.func private @transpose
// CHECK-NOT: parallelize
// CHECK-SAME: injective: not vectorized
func.func private @transpose(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %r = topi.compute "transpose" [%i : 4, %j : 8] : tensor<4x8xf32> {
    %a = topi.read %x[%j, %i] : tensor<8x4xf32>
    topi.yield %a : f32
  }
  func.return %r : tensor<4x8xf32>
}

// The lines of a transposed operand are read once, for a few rows of the result that are written together.
// CHECK-LABEL: func.func private @transpose_tiled
// CHECK-SAME: split("i", 8, names = ["i_o", "i_i"]), split("j", 16, names = ["j_o", "j_i"]), reorder("i_o", "j_o", "i_i", "j_i"), split("j_i", 8, names = ["j_i_h", "j_i_p"]), reorder("j_i_h", "i_i", "j_i_p"), unroll("i_i"), vectorize("j_i_p", access = "any")
// CHECK-SAME: tiles of 8 x 16, because an operand is transposed
func.func private @transpose_tiled(%x: tensor<100x80xf32>) -> tensor<80x100xf32> {
  %r = topi.compute "transpose" [%i : 80, %j : 100] : tensor<80x100xf32> {
    %a = topi.read %x[%j, %i] : tensor<100x80xf32>
    topi.yield %a : f32
  }
  func.return %r : tensor<80x100xf32>
}

// A line of the operand contains the elements of several heads: the loop with step 1 is along the line.
// CHECK-LABEL: func.func private @transpose_heads
// CHECK-SAME: reorder("h", "i_o", "j_o", "i_i", "j_i")
// CHECK-SAME: tiles of 8 x 16, because an operand is transposed
func.func private @transpose_heads(%x: tensor<100x240xf32>) -> tensor<3x80x100xf32> {
  %r = topi.compute "transpose" [%h : 3, %i : 80, %j : 100] : tensor<3x80x100xf32> {
    %a = topi.read %x[%j, %h * 80 + %i] : tensor<100x240xf32>
    topi.yield %a : f32
  }
  func.return %r : tensor<3x80x100xf32>
}

// Rows of less than a cache line are written as vectors, whose lanes are loaded one by one.
// CHECK-LABEL: func.func private @transpose_short_rows
// CHECK-SAME: vectorize("j", access = "any")
// CHECK-SAME: 12 gathered lanes along j
func.func private @transpose_short_rows(%x: tensor<12x80xf32>) -> tensor<80x12xf32> {
  %r = topi.compute "transpose" [%i : 80, %j : 12] : tensor<80x12xf32> {
    %a = topi.read %x[%j, %i] : tensor<12x80xf32>
    topi.yield %a : f32
  }
  func.return %r : tensor<80x12xf32>
}

// A nest is cut where a branch goes another way, so that one part is a transposition and the others have lanes.
// CHECK-LABEL: func.func private @joined
// CHECK-SAME: reorder("i", "n", "j"), cut("i", first = 4), reorder("n_first", "i_first", "j_first"), reorder("i_first", "n_first", "j_first"), cut("i_first", first = 1)
// CHECK-SAME: reorder("n", "i", "j"), vectorize("j_first_first"), vectorize("j_first", access = "any"), vectorize("j")]
// CHECK-SAME: cut at i = 4, because a branch goes another way
func.func private @joined(%x: tensor<80x16xf32>, %y: tensor<80x3x16xf32>, %z: tensor<80x2x16xf32>)
    -> tensor<80x6x16xf32> {
  %r = topi.compute "join" [%n : 80, %i : 6, %j : 16] : tensor<80x6x16xf32> {
    %k = topi.index [%i]
    %c1 = arith.constant 1 : index
    %is_first = arith.cmpi ult, %k, %c1 : index
    %a = topi.guard (%is_first) -> f32 {
      %b = topi.read %x[%n, %j] : tensor<80x16xf32>
      topi.yield %b : f32
    } else {
      %c4 = arith.constant 4 : index
      %is_second = arith.cmpi ult, %k, %c4 : index
      %c = topi.guard (%is_second) -> f32 {
        %d = topi.read %y[%j * 5, %i - 1, 0] : tensor<80x3x16xf32>
        topi.yield %d : f32
      } else {
        %e = topi.read %z[%n, %i - 4, %j] : tensor<80x2x16xf32>
        topi.yield %e : f32
      }
      topi.yield %c : f32
    }
    topi.yield %a : f32
  }
  func.return %r : tensor<80x6x16xf32>
}

// Blocks of channels are cut too, where the number of the block changes the branch; each part has tiles.
// CHECK-LABEL: func.func private @joined_blocks
// CHECK-SAME: cut("c", first = 48)
// CHECK-SAME: vectorize("w_first_i_p", access = "any")
// CHECK-SAME: vectorize("w_i_p", access = "any")
func.func private @joined_blocks(%x: tensor<3x80x16xf32>, %y: tensor<2x80x16xf32>) -> tensor<80x80xf32> {
  %r = topi.compute "join" [%c : 80, %w : 80] : tensor<80x80xf32> {
    %block = topi.index [%c floordiv 16]
    %c3 = arith.constant 3 : index
    %is_first = arith.cmpi ult, %block, %c3 : index
    %a = topi.guard (%is_first) -> f32 {
      %b = topi.read %x[%c floordiv 16, %w, %c mod 16] : tensor<3x80x16xf32>
      topi.yield %b : f32
    } else {
      %d = topi.read %y[%c floordiv 16 - 3, %w, %c mod 16] : tensor<2x80x16xf32>
      topi.yield %d : f32
    }
    topi.yield %a : f32
  }
  func.return %r : tensor<80x80xf32>
}

// LLVM would unroll the sum of three vectors to a chain of scalars.
// CHECK-LABEL: func.func private @short_rows
// CHECK-SAME: disable_unroll("k")
func.func private @short_rows(%x: tensor<64x49xf32>) -> tensor<64xf32> attributes {relay.primitive} {
  %s = topi.compute "s" [%i : 64] reduce [%k : 49] init [%acc = 0.0 : f32] : tensor<64xf32> {
    %a = topi.read %x[%i, %k] : tensor<64x49xf32>
    %t = arith.addf %acc, %a : f32
    topi.yield %t : f32
  }
  func.return %s : tensor<64xf32>
}

// So it would with the sum of one vector; a shorter sum is unrolled.
// CHECK-LABEL: func.func private @row_of_a_vector
// CHECK-SAME: disable_unroll("k")
// CHECK-LABEL: func.func private @shorter_row
// CHECK-NOT: disable_unroll
// CHECK: func.return
func.func private @row_of_a_vector(%x: tensor<64x16xf32>) -> tensor<64xf32> attributes {relay.primitive} {
  %s = topi.compute "s" [%i : 64] reduce [%k : 16] init [%acc = 0.0 : f32] : tensor<64xf32> {
    %a = topi.read %x[%i, %k] : tensor<64x16xf32>
    %t = arith.addf %acc, %a : f32
    topi.yield %t : f32
  }
  func.return %s : tensor<64xf32>
}

func.func private @shorter_row(%x: tensor<64x12xf32>) -> tensor<64xf32> attributes {relay.primitive} {
  %s = topi.compute "s" [%i : 64] reduce [%k : 12] init [%acc = 0.0 : f32] : tensor<64xf32> {
    %a = topi.read %x[%i, %k] : tensor<64x12xf32>
    %t = arith.addf %acc, %a : f32
    topi.yield %t : f32
  }
  func.return %s : tensor<64xf32>
}

// The mirrored ends of a row are cut off, so that the rest has lanes.
// CHECK-LABEL: func.func private @mirrored
// CHECK-SAME: cut("i", first = 2, last = 1), split("i", 16, names = ["i_o", "i_v"]), vectorize("i_v")
// CHECK-SAME: 2 and 1 iterations cut off i
func.func private @mirrored(%x: tensor<64xf32>) -> tensor<67xf32> {
  %r = topi.compute "mirror" [%i : 67] : tensor<67xf32> {
    %inside = topi.in_bounds [%i - 2] of [64]
    %a = topi.guard (%inside) -> f32 {
      %b = topi.read %x[%i - 2] : tensor<64xf32>
      topi.yield %b : f32
    } else {
      %near = topi.index [%i * -1 + 2]
      %far = topi.index [%i * -1 + 128]
      %c64 = arith.constant 64 : index
      %n = topi.index [%i]
      %is_far = arith.cmpi sgt, %n, %c64 : index
      %at = arith.select %is_far, %far, %near : index
      %c = topi.read %x[%at] : tensor<64xf32>
      topi.yield %c : f32
    }
    topi.yield %a : f32
  }
  func.return %r : tensor<67xf32>
}

// Lanes that read different operands are masked.
// CHECK-LABEL: func.func private @joined_rows
// CHECK-SAME: split("i", 16, tail = mask, names = ["i_o", "i_v"]), vectorize("i_v", access = "masked")
// CHECK-SAME: 16 masked lanes along i
func.func private @joined_rows(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<n + m>> attributes {relay.primitive} {
  %r = topi.compute "join" [%i : n + m] : tensor<?xf32, #relay.dims<n + m>> {
    %first = topi.in_bounds [%i] of [n]
    %a = topi.guard (%first) -> f32 {
      %b = topi.read %x[%i] : tensor<?xf32, #relay.dims<n>>
      topi.yield %b : f32
    } else {
      %c = topi.read %y[%i - n] : tensor<?xf32, #relay.dims<m>>
      topi.yield %c : f32
    }
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n + m>>
}

// LLVM masks the ends of a padded row of dynamic length.
// CHECK-LABEL: func.func private @padded_row
// CHECK-SAME: loop.schedule = #loop.schedule<[]>
func.func private @padded_row(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + 4>> attributes {relay.primitive} {
  %r = topi.compute "pad" [%i : n + 4] : tensor<?xf32, #relay.dims<n + 4>> {
    %inside = topi.in_bounds [%i - 2] of [n]
    %a = topi.guard (%inside) -> f32 {
      %b = topi.read %x[%i - 2] : tensor<?xf32, #relay.dims<n>>
      topi.yield %b : f32
    } else {
      %zero = arith.constant 0.0 : f32
      topi.yield %zero : f32
    }
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n + 4>>
}

// Filters of one group share the vectors of the image: 17 of 34.
// CHECK-LABEL: func.func private @grouped_conv
// CHECK-SAME: conv2d_nchw: {{.*}}17 filters x 14 columns
func.func private @grouped_conv(%x: tensor<1x16x14x14xf32>, %w: tensor<68x8x1x1xf32>) -> tensor<1x68x14x14xf32> {
  %r = topi.conv2d_nchw(%x, %w) {groups = 2 : i64} : (tensor<1x16x14x14xf32>, tensor<68x8x1x1xf32>) -> tensor<1x68x14x14xf32>
  func.return %r : tensor<1x68x14x14xf32>
}

// Two filters have several vectors of a row.
// CHECK-LABEL: func.func private @two_filters
// CHECK-SAME: split("w", 16, names = ["w_v", "w_l"]), {{.*}}vectorize("w_l"), unroll("c"), unroll("w_v")
// CHECK-SAME: conv2d_nchw: {{.*}}2 filters x 64 columns
func.func private @two_filters(%x: tensor<1x32x64x100xf32>, %w: tensor<2x32x1x1xf32>) -> tensor<1x2x64x100xf32> {
  %r = topi.conv2d_nchw(%x, %w) : (tensor<1x32x64x100xf32>, tensor<2x32x1x1xf32>) -> tensor<1x2x64x100xf32>
  func.return %r : tensor<1x2x64x100xf32>
}

// Windows of neighbouring rows overlap, so a tile has seven rows; the taps below each other are unrolled in it.
// CHECK-LABEL: func.func private @windows_of_one_filter
// CHECK-SAME: reorder("k", "x", "y", "h", "w"), vectorize("w"), unroll("y"), unroll("h")
// CHECK-SAME: conv2d_nchw: {{.*}}1 filters x 7 rows x 16 columns
func.func private @windows_of_one_filter(%x: tensor<1x32x23x18xf32>, %w: tensor<1x32x3x3xf32>) -> tensor<1x1x21x16xf32> {
  %r = topi.conv2d_nchw(%x, %w) : (tensor<1x32x23x18xf32>, tensor<1x32x3x3xf32>) -> tensor<1x1x21x16xf32>
  func.return %r : tensor<1x1x21x16xf32>
}

// Of windows two rows apart, too few rows are the same.
// CHECK-LABEL: func.func private @windows_apart
// CHECK-SAME: conv2d_nchw: {{.*}}1 filters x 16 columns
func.func private @windows_apart(%x: tensor<1x32x43x18xf32>, %w: tensor<1x32x3x3xf32>) -> tensor<1x1x21x16xf32> {
  %r = topi.conv2d_nchw(%x, %w) {strides = array<i64: 2, 1>} : (tensor<1x32x43x18xf32>, tensor<1x32x3x3xf32>) -> tensor<1x1x21x16xf32>
  func.return %r : tensor<1x1x21x16xf32>
}

// An existing schedule is kept.
// CHECK-LABEL: func.func private @by_hand
// CHECK-SAME: loop.schedule = #loop.schedule<[split("i", 2)]>
// CHECK-NOT: loop.schedule_reason
// CHECK: func.return
func.func private @by_hand(%x: tensor<8xf32>) -> tensor<8xf32> attributes {loop.schedule = #loop.schedule<[split("i", 2)]>} {
  %r = topi.compute "copy" [%i : 8] : tensor<8xf32> {
    %a = topi.read %x[%i] : tensor<8xf32>
    topi.yield %a : f32
  }
  func.return %r : tensor<8xf32>
}

// A fold with other readers, over rows longer than the lane limit: pieces of a few vectors, each around its fold.
// CHECK-LABEL: func.func private @long_rows
// CHECK-SAME: split("s_i", 64, names = ["s_i_o", "s_i_i"]), reorder("s_k", "s_i_i"), split("s_i_i", 16, names = ["s_i_i_o", "s_i_i_v"]), vectorize("s_i_i_v")
func.func private @long_rows(%x: tensor<64x3000xf32>) -> tensor<3000xf32> attributes {relay.primitive} {
  %s = topi.compute "s" [%i : 3000] reduce [%k : 64] init [%acc = 0.0 : f32] : tensor<3000xf32> {
    %0 = topi.read %x[%k, %i] : tensor<64x3000xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  %y = topi.compute "mirrored" [%i : 3000] : tensor<3000xf32> {
    %0 = topi.read %s[%i * -1 + 2999] : tensor<3000xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<3000xf32>
}

// Strided columns are gathered into lanes, which all filters of a tile share.
// CHECK-LABEL: func.func private @strided
// CHECK-SAME: 8 filters x 16 columns
func.func private @strided(%x: tensor<1x16x129xf32>, %w: tensor<8x16x3xf32>) -> tensor<1x8x64xf32> {
  %r = topi.conv1d_ncw(%x, %w) {strides = array<i64: 2>} : (tensor<1x16x129xf32>, tensor<8x16x3xf32>) -> tensor<1x8x64xf32>
  func.return %r : tensor<1x8x64xf32>
}

// Without filters that share them, sums of few products stay scalar.
// CHECK-LABEL: func.func private @strided_by_channel
// CHECK-SAME: columns are not lanes
func.func private @strided_by_channel(%x: tensor<1x16x129xf32>, %w: tensor<16x1x3xf32>) -> tensor<1x16x64xf32> {
  %r = topi.conv1d_ncw(%x, %w) {strides = array<i64: 2>, groups = 16 : i64} : (tensor<1x16x129xf32>, tensor<16x1x3xf32>) -> tensor<1x16x64xf32>
  func.return %r : tensor<1x16x64xf32>
}

// CHECK-LABEL: func.func private @shorter_sum
// CHECK-NOT: partial_sums
// CHECK: func.func private @wide_sum
func.func private @shorter_sum(%x: tensor<4x65536xf32>, %y: tensor<65536x8xf32>) -> tensor<4x8xf32> {
  %r = topi.batch_matmul(%x, %y) : (tensor<4x65536xf32>, tensor<65536x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Sums of f64 are precise enough.
// CHECK-NOT: partial_sums
func.func private @wide_sum(%x: tensor<4x100000xf64>, %y: tensor<100000x8xf64>) -> tensor<4x8xf64> {
  %r = topi.batch_matmul(%x, %y) : (tensor<4x100000xf64>, tensor<100000x8xf64>) -> tensor<4x8xf64>
  func.return %r : tensor<4x8xf64>
}

// The rest of a padded row is not cut if whole vectors do not fill it, and a static row has no masks.
// CHECK-LABEL: func.func private @padded_columns
// CHECK-NOT: {{cut\(|masked}}
// CHECK-SAME: conv2d_nchw: {{.*}}8 filters x 16 columns
func.func private @padded_columns(%x: tensor<1x4x40x40xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x40x40xf32> {
  %r = topi.conv2d_nchw(%x, %w) {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x4x40x40xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x40x40xf32>
  func.return %r : tensor<1x8x40x40xf32>
}

// The sums of four vectors of columns are registers: the loops over the vectors are unrolled where they are stored, too.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: vectorize("i_v"), unroll("i_o"), split("columns_write_0_i", 16, names = ["columns_write_0_i_o", "columns_write_0_i_v"]), vectorize("columns_write_0_i_v"), unroll("columns_write_0_i_o")
func.func private @columns(%x: tensor<1024x1024xf32>) -> tensor<1024xf32> {
  %r = topi.compute "columns" [%i : 1024] reduce [%k : 1024] init [%acc = 0.0 : f32] : tensor<1024xf32> {
    %0 = topi.read %x[%k, %i] : tensor<1024x1024xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<1024xf32>
}

// Rows of a sum are apart: 64 lanes add up all rows, and one sum of lanes is left for each result.
// CHECK-LABEL: func.func private @planes
// CHECK-SAME: split("l", 64, names = ["l_o", "l_i"]), rfactor("planes", "l_i"), cache_write("planes_total"), compute_at("planes_total", "planes_total_write_0"), compute_at("planes", "planes_total_write_0"), reorder("k", "l_o", "l_i")
// CHECK-SAME: planes accumulates in 64 lanes of l
func.func private @planes(%x: tensor<24x16x128xf32>) -> tensor<16xf32> {
  %r = topi.compute "planes" [%i : 16] reduce [%k : 24, %l : 128] init [%acc = 0.0 : f32] : tensor<16xf32> {
    %0 = topi.read %x[%k, %i, %l] : tensor<24x16x128xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<16xf32>
}

// Results that depend on the index of a row of dynamic length have lanes. LLVM vectorises a static row.
// CHECK-LABEL: func.func private @open_counts
// CHECK-SAME: split("counts_j_i", 16, names = ["counts_j_i_o", "counts_j_i_v"]), vectorize("counts_j_i_v", access = "any"), unroll("counts_j_i_o")
// CHECK-LABEL: func.func private @static_counts
// CHECK-NOT: access = "any"
// CHECK: func.return
func.func private @open_counts(%x: tensor<4x?xf32, #relay.dims<n + 2>>) -> tensor<4x?xf32, #relay.dims<n>> attributes {relay.primitive} {
  %s = topi.compute "sum" [%i : 4, %j : n] reduce [%k : 3] init [%acc = 0.0 : f32] : tensor<4x?xf32, #relay.dims<n>> {
    %0 = topi.read %x[%i, %j + %k] : tensor<4x?xf32, #relay.dims<n + 2>>
    %1 = arith.addf %acc, %0 : f32
    topi.yield %1 : f32
  }
  %r = topi.compute "counts" [%i : 4, %j : n] : tensor<4x?xf32, #relay.dims<n>> {
    %0 = topi.read %s[%i, %j] : tensor<4x?xf32, #relay.dims<n>>
    %1 = arith.index_cast %j : index to i64
    %2 = arith.sitofp %1 : i64 to f32
    %3 = arith.divf %0, %2 : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<4x?xf32, #relay.dims<n>>
}

func.func private @static_counts(%x: tensor<4x130xf32>) -> tensor<4x128xf32> {
  %s = topi.compute "sum" [%i : 4, %j : 128] reduce [%k : 3] init [%acc = 0.0 : f32] : tensor<4x128xf32> {
    %0 = topi.read %x[%i, %j + %k] : tensor<4x130xf32>
    %1 = arith.addf %acc, %0 : f32
    topi.yield %1 : f32
  }
  %r = topi.compute "counts" [%i : 4, %j : 128] : tensor<4x128xf32> {
    %0 = topi.read %s[%i, %j] : tensor<4x128xf32>
    %1 = arith.index_cast %j : index to i64
    %2 = arith.sitofp %1 : i64 to f32
    %3 = arith.divf %0, %2 : f32
    topi.yield %3 : f32
  }
  func.return %r : tensor<4x128xf32>
}

// Rows of 100 terms are no multiple of a vector. Terms in order are not divided among lanes.
// CHECK-LABEL: func.func private @odd_rows
// CHECK-NOT: rfactor
// CHECK-LABEL: func.func private @in_order
// CHECK-NOT: rfactor
// CHECK: func.return
func.func private @odd_rows(%x: tensor<24x16x100xf32>) -> tensor<16xf32> {
  %r = topi.compute "odd" [%i : 16] reduce [%k : 24, %l : 100] init [%acc = 0.0 : f32] : tensor<16xf32> {
    %0 = topi.read %x[%k, %i, %l] : tensor<24x16x100xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<16xf32>
}
func.func private @in_order(%x: tensor<24x16x128xf32>) -> tensor<16xf32> {
  %r = topi.compute "order" [%i : 16] reduce [%k : 24, %l : 128] init [%acc = 0.0 : f32] : tensor<16xf32> {
    %0 = topi.read %x[%k, %i, %l] : tensor<24x16x128xf32>
    %1 = arith.addf %acc, %0 : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<16xf32>
}

// Threads share the filters where the weights are larger, and a batch that suffices.
// CHECK-LABEL: func.func private @shared_filters
// CHECK-NOT: {{_p"}}
// CHECK-SAME: parallel over 16 iterations of conv2d_write_0_conv2d_write_1_o
func.func private @shared_filters(%x: tensor<1x32x12x12x16xf32>, %w: tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x10x10x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x32x12x12x16xf32>, tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x10x10x16xf32>
  func.return %r : tensor<1x32x10x10x16xf32>
}
// CHECK-LABEL: func.func private @shared_batch
// CHECK-NOT: {{_p"}}
// CHECK-SAME: parallel over 8 iterations of conv2d_write_0
func.func private @shared_batch(%x: tensor<8x4x30x30x16xf32>, %w: tensor<4x4x3x3x16x16xf32>) -> tensor<8x4x28x28x16xf32> {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<8x4x30x30x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<8x4x28x28x16xf32>
  func.return %r : tensor<8x4x28x28x16xf32>
}

// The terms of an image are contiguous: one loop over all, so that LLVM combines its lanes once.
// CHECK-LABEL: func.func private @images
// CHECK-SAME: compute_at("images", "images_write_0"), fuse("y", "w", name = "y_w")
// CHECK-SAME: y_w: terms contiguous
func.func private @images(%x: tensor<512x14x14xf32>) -> tensor<512x1xf32> {
  %r = topi.compute "images" [%c : 512, %n : 1] reduce [%y : 14, %w : 14] init [%acc = 0xff800000 : f32] : tensor<512x1xf32> {
    %0 = topi.read %x[%c, %y, %w] : tensor<512x14x14xf32>
    %1 = arith.maximumf %acc, %0 fastmath<nsz> : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<512x1xf32>
}

// A weight that is larger than the L2 cache is prefetched: the next panel by many tiles of rows, own lines by few tiles.
// CHECK-LABEL: func.func private @large_weight
// CHECK-SAME: split("k", 4, names = ["k_o", "k_u"])
// CHECK-SAME: unroll("k_u")
// CHECK-SAME: prefetch("k_o")
// CHECK-LABEL: func.func private @few_rows
// CHECK-SAME: prefetch("k", ahead = 32)
// CHECK-LABEL: func.func private @two_tiles
// CHECK-SAME: prefetch("k", ahead = 32)
func.func private @large_weight(%x: tensor<128x1024xf32>, %w: tensor<64x1024x16xf32>) -> tensor<128x1024xf32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<128x1024xf32>, tensor<64x1024x16xf32>) -> tensor<128x1024xf32>
  func.return %r : tensor<128x1024xf32>
}
func.func private @few_rows(%x: tensor<4x1024xf32>, %w: tensor<64x1024x16xf32>) -> tensor<4x1024xf32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<4x1024xf32>, tensor<64x1024x16xf32>) -> tensor<4x1024xf32>
  func.return %r : tensor<4x1024xf32>
}
func.func private @two_tiles(%x: tensor<20x1024xf32>, %w: tensor<64x1024x16xf32>) -> tensor<20x1024xf32> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<20x1024xf32>, tensor<64x1024x16xf32>) -> tensor<20x1024xf32>
  func.return %r : tensor<20x1024xf32>
}

// The weight of a convolution which is larger than the L1 cache is prefetched for each tile, some iterations in advance.
// CHECK-LABEL: func.func private @conv_of_few_tiles
// CHECK-SAME: prefetch("ki", ahead = 32)
// CHECK-LABEL: func.func private @conv_of_many_tiles
// CHECK-SAME: prefetch("ki", ahead = 32)
// CHECK-LABEL: func.func private @conv_of_small_weight
// CHECK-NOT: prefetch
func.func private @conv_of_few_tiles(%x: tensor<1x32x7x7x16xf32>, %w: tensor<8x32x1x1x16x16xf32>) -> tensor<1x8x7x7x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x32x7x7x16xf32>, tensor<8x32x1x1x16x16xf32>) -> tensor<1x8x7x7x16xf32>
  func.return %r : tensor<1x8x7x7x16xf32>
}
func.func private @conv_of_many_tiles(%x: tensor<1x32x28x28x16xf32>, %w: tensor<8x32x1x1x16x16xf32>) -> tensor<1x8x28x28x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x32x28x28x16xf32>, tensor<8x32x1x1x16x16xf32>) -> tensor<1x8x28x28x16xf32>
  func.return %r : tensor<1x8x28x28x16xf32>
}
func.func private @conv_of_small_weight(%x: tensor<1x2x7x7x16xf32>, %w: tensor<8x2x1x1x16x16xf32>) -> tensor<1x8x7x7x16xf32> attributes {relay.primitive} {
  %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x2x7x7x16xf32>, tensor<8x2x1x1x16x16xf32>) -> tensor<1x8x7x7x16xf32>
  func.return %r : tensor<1x8x7x7x16xf32>
}

// The rows of an image are one row for the tiles of a transposition, if only this row has full tiles.
// CHECK-LABEL: func.func private @transposed_image
// CHECK-SAME: loop.schedule = #loop.schedule<[fuse("h", "w", name = "h_w"), split("h_w", 8,
func.func private @transposed_image(%x: tensor<64x20x20xf32>) -> tensor<20x20x64xf32> {
  %y = topi.compute "t" [%h : 20, %w : 20, %c : 64] : tensor<20x20x64xf32> {
    %0 = topi.read %x[%c, %h, %w] : tensor<64x20x20xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<20x20x64xf32>
}

// CHECK-LABEL: func.func private @transposed_rows
// CHECK-SAME: loop.schedule = #loop.schedule<[split("w", 8,
func.func private @transposed_rows(%x: tensor<64x20x24xf32>) -> tensor<20x24x64xf32> {
  %y = topi.compute "t" [%h : 20, %w : 24, %c : 64] : tensor<20x24x64xf32> {
    %0 = topi.read %x[%c, %h, %w] : tensor<64x20x24xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<20x24x64xf32>
}

// Threads share matrices.
// CHECK-LABEL: func.func private @sums_of_rows
// CHECK-SAME: cache_inplace("s", "j_o")
// CHECK-SAME: parallelize("i")
func.func private @sums_of_rows(%x: tensor<16x100x1024xf32>) -> tensor<16x1024xf32> {
  %y = topi.compute "s" [%i : 16, %j : 1024] reduce [%k : 100] init [%acc = 0.0 : f32] : tensor<16x1024xf32> {
    %0 = topi.read %x[%i, %k, %j] : tensor<16x100x1024xf32>
    %1 = arith.addf %acc, %0 fastmath<reassoc> : f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<16x1024xf32>
}

// The blocks of channels of an image are pieces of rows: the pieces of some rows are read one after the other.
// CHECK-LABEL: func.func private @blocks_of_rows
// CHECK-SAME: reorder("i1", "i0", "i2", "i3")
// CHECK-SAME: iterations of i0 read the next piece of a row
func.func private @blocks_of_rows(%x: tensor<196x256xf32>) -> tensor<16x14x14x16xf32> attributes {relay.primitive} {
  %y = topi.compute "y" [%i0 : 16, %i1 : 14, %i2 : 14, %i3 : 16] : tensor<16x14x14x16xf32> {
    %0 = topi.read %x[%i1 * 14 + %i2, %i0 * 16 + %i3] : tensor<196x256xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<16x14x14x16xf32>
}

// An operand of rank 0 has no rows.
// CHECK-LABEL: func.func private @scaled
// CHECK-SAME: 16 lanes along i
func.func private @scaled(%x: tensor<4x4x16xf32>, %s: tensor<f32>) -> tensor<4x4x16xf32> attributes {relay.primitive} {
  %y = topi.compute "y" [%h : 4, %w : 4, %i : 16] : tensor<4x4x16xf32> {
    %0 = topi.read %s[] : tensor<f32>
    %1 = topi.read %x[%h, %w, %i] : tensor<4x4x16xf32>
    %2 = arith.mulf %0, %1 : f32
    topi.yield %2 : f32
  }
  func.return %y : tensor<4x4x16xf32>
}

// A kernel without elements has no steps, so its reason is the family alone.
// CHECK-LABEL: func.func private @empty
// CHECK-SAME: loop.schedule_reason = "injective"
func.func private @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> attributes {relay.primitive} {
  %y = topi.compute "y" [%h : 0, %w : 4] : tensor<0x4xf32> {
    %0 = topi.read %x[%h, %w] : tensor<0x4xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<0x4xf32>
}
