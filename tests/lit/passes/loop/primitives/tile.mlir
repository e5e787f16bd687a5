// RUN: xrelay-opt %s -p 'loop-tile{outer=i inner=j outer-factor=6 inner-factor=16}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-tile{outer=i inner=j outer-factor=5 inner-factor=16 tail=mask}' | filecheck %s --check-prefix MASK
// RUN: not xrelay-opt %s -p 'loop-tile{outer=i inner=j outer-factor=6}' 2>&1 | filecheck %s --check-prefix FACTORS

// CHECK: loop.for "i_o" %i_o to 2 {
// CHECK-NEXT: loop.for "j_o" %j_o to 4 {
// CHECK-NEXT: loop.for "i_i" %i_i to 6 {
// CHECK-NEXT: loop.for "j_i" %j_i to 16 {
// CHECK-NEXT: loop.for "k" %k to 32 {
// CHECK-NEXT: loop.block "gemm" (%vi : spatial 12 = %i_o * 6 + %i_i, %vj : spatial 64 = %j_o * 16 + %j_i, %vk : reduce 32 = %k)
// MASK: loop.for "i_o" %i_o to 3 tail = mask {
// MASK-NEXT: loop.for "j_o" %j_o to 4 {
// FACTORS: error: [loop-tile] needs the option 'inner-factor'
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
