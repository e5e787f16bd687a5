// The GEMM of 510 x 512 x 512 as a rolled loop nest over a local array of 24 accumulators, 6 rows of 4 vectors, as
// scheduled for a matrix product. B is packed into panels of 64 columns.
// RUN: xrelay-opt %s -p convert-scf-to-branches,convert-memref-to-llvm,convert-vector-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm -t llvm-ir | filecheck %s

// CHECK: define i32 @gemm(ptr %ctx, ptr noalias %A, ptr noalias %B, ptr noalias %C) {
// CHECK: %acc = alloca [24 x <16 x float>], i64 1, align 64
// CHECK: call <16 x float> @llvm.fma.v16f32
// CHECK: !llvm.loop
func.func @gemm(
    %A: memref<510x512xf32> {llvm.noalias}, %B: memref<8x512x64xf32> {llvm.noalias}, %C: memref<510x512xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c85 = arith.constant 85 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %acc = memref.alloca() : memref<6x4xvector<16xf32>>
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c85 step %c1 {
      %row0 = arith.muli %i, %c6 : index
      scf.for %r = %c0 to %c6 step %c1 {
        scf.for %v = %c0 to %c4 step %c1 {
          memref.store %zero, %acc[%r, %v] : memref<6x4xvector<16xf32>>
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      scf.for %k = %c0 to %c512 step %c1 {
        scf.for %r = %c0 to %c6 step %c1 {
          %row = arith.addi %row0, %r : index
          %a = memref.load %A[%row, %k] : memref<510x512xf32>
          %as = vector.broadcast %a : f32 to vector<16xf32>
          scf.for %v = %c0 to %c4 step %c1 {
            %col = arith.muli %v, %c16 : index
            %b = vector.load %B[%j, %k, %col] : memref<8x512x64xf32>, vector<16xf32>
            %c = memref.load %acc[%r, %v] : memref<6x4xvector<16xf32>>
            %f = vector.fma %as, %b, %c : vector<16xf32>
            memref.store %f, %acc[%r, %v] : memref<6x4xvector<16xf32>>
          } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
      %col0 = arith.muli %j, %c64 : index
      scf.for %r = %c0 to %c6 step %c1 {
        %row = arith.addi %row0, %r : index
        scf.for %v = %c0 to %c4 step %c1 {
          %off = arith.muli %v, %c16 : index
          %col = arith.addi %col0, %off : index
          %c = memref.load %acc[%r, %v] : memref<6x4xvector<16xf32>>
          vector.store %c, %C[%row, %col] : memref<510x512xf32>, vector<16xf32>
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
    }
  }
  func.return
}
