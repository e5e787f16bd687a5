// RUN: xrelay-opt %s -p 'loop-split{loop=j factor=24},loop-set-tail{loop=j_o tail=mask}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-set-tail{loop=k tail=overlap}' 2>&1 | filecheck %s --check-prefix WRONG

// CHECK: loop.for "j_o" %j_o to 3 tail = mask {
// WRONG: error: no tail is called 'overlap'; help: use peel or mask
func.func private @gemm(%A: memref<12x32xf32>, %B: memref<32x64xf32>, %C: memref<12x64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 12 {
    loop.for "j" %j to 64 {
      loop.for "k" %k to 32 {
        loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k) reads(%A, %B) writes(%C) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
        } {
          %a = loop.load %A[%vi, %vk] : memref<12x32xf32>
          %b = loop.load %B[%vk, %vj] : memref<32x64xf32>
          %c = loop.load %C[%vi, %vj] : memref<12x64xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %C[%vi, %vj] : memref<12x64xf32>
        }
      }
    }
  }
  func.return
}
