// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-bf16 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'topi-expand-named,topi-inline-injective,convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=sapphirerapids -mattr=+amx-tile,+amx-int8 -num-threads=1"}' | filecheck %s --check-prefix VECTORS

// Tiles compute both products for blocks of 32 queries. Both parts of the weights are computed after the other stages of
// a row.
// CHECK-LABEL: func.func private @attention
// CHECK-SAME: split("matmul_1_write_1", 32, names = ["matmul_1_write_1_b", "matmul_1_write_1_q"])
// CHECK-SAME: tensorize("matmul_1_k", "tdpbf16ps")
// CHECK-SAME: compute_at("weights", "matmul_1_write_1_b")
// CHECK-SAME: reorder("weights_i", "weights_j_o", "weights_part", "weights_j_v"), unroll("weights_part")
// CHECK-SAME: compute_at("softmax_exp", "weights_i")
// CHECK-SAME: tensorize("matmul_k", "tdpbf16ps")
// CHECK-SAME: all stages are computed for blocks of 32 queries
// VECTORS-LABEL: func.func private @attention
// VECTORS-NOT: tensorize
func.func private @attention(%q: tensor<2x8x64x64xbf16>, %k: tensor<2x8x8x32x16x2xbf16>, %v: tensor<2x8x4x64x16x2xbf16>) -> tensor<8x64x64xf32> attributes {relay.primitive} {
  %s = topi.matmul_split(%q, %k) : (tensor<2x8x64x64xbf16>, tensor<2x8x8x32x16x2xbf16>) -> tensor<8x64x128xf32>
  %w = topi.softmax(%s) {axis = 2 : i64} : (tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %p = topi.compute "weights" [%part : 2, %h : 8, %i : 64, %j : 128] : tensor<2x8x64x128xbf16> {
    %0 = topi.read %w[%h, %i, %j] : tensor<8x64x128xf32>
    %1 = arith.truncf %0 : f32 to bf16
    %2 = arith.extf %1 : bf16 to f32
    %3 = arith.subf %0, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    %5 = topi.index [%part]
    %6 = arith.constant 0 : index
    %7 = arith.cmpi eq, %5, %6 : index
    %8 = arith.select %7, %1, %4 : bf16
    topi.yield %8 : bf16
  }
  %y = topi.matmul_split(%p, %v) : (tensor<2x8x64x128xbf16>, tensor<2x8x4x64x16x2xbf16>) -> tensor<8x64x64xf32>
  func.return %y : tensor<8x64x64xf32>
}
