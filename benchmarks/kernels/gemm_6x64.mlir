// C = A B, f32, 510x512x512; B is packed into 8 panels of 64 columns. The nest says what is computed, the schedule how:
// a tile of 6 rows and 4 vectors stays in registers while k runs.
func.func @gemm(%A: memref<510x512xf32>, %B: memref<8x512x64xf32>, %C: memref<510x512xf32>) attributes {
    loop.kernel, loop.num_outputs = 1 : i64,
    loop.schedule = #loop.schedule<[
      cache_write("gemm", names = ["r", "c"]), tile("r", "c", 6, 64), reorder("c_o", "r_o"), compute_at("gemm", "r_o"),
      split("j", 16), reorder("k", "i", "j_o", "j_i"), unroll("i"), unroll("j_o"), vectorize("j_i"), disable_unroll("k"),
      split("c_i", 16), unroll("r_i"), unroll("c_i_o"), vectorize("c_i_i")
    ]>} {
  loop.for "i" %i to 510 {
    loop.for "j" %j to 512 {
      loop.for "k" %k to 512 {
        loop.block "gemm" (%vi : spatial 510 = %i, %vj : spatial 512 = %j, %vk : reduce 512 = %k) reads(%A, %B) writes(%C) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %C[%vi, %vj] : memref<510x512xf32>
        } {
          %a = loop.load %A[%vi, %vk] : memref<510x512xf32>
          %b = loop.load %B[%vj floordiv 64, %vk, %vj mod 64] : memref<8x512x64xf32>
          %c = loop.load %C[%vi, %vj] : memref<510x512xf32>
          %p = arith.mulf %a, %b fastmath<contract> : f32
          %s = arith.addf %c, %p fastmath<contract> : f32
          loop.store %s, %C[%vi, %vj] : memref<510x512xf32>
        }
      }
    }
  }
  func.return
}
func.func @main(%A: memref<510x512xf32>, %B: memref<8x512x64xf32>, %C: memref<510x512xf32>) attributes {loop.num_outputs = 1 : i64} {
  func.call @gemm(%A, %B, %C) : (memref<510x512xf32>, memref<8x512x64xf32>, memref<510x512xf32>) -> ()
  func.return
}
