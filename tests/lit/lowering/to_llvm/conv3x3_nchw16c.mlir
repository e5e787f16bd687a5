// The 3x3 convolution of 64 -> 64 channels, 56x56, NCHW16c, as a rolled loop nest over a local array of 28 accumulators
// (14 columns of 2 vectors), with bias and relu before the tile is stored.
// RUN: xrelay-opt %s -p convert-scf-to-branches,convert-memref-to-llvm,convert-vector-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm -t llvm-ir | filecheck %s

// CHECK: define i32 @conv(ptr %ctx, ptr noalias %X, ptr noalias %K, ptr noalias %B, ptr noalias %Y) {
// CHECK: %acc = alloca [28 x <16 x float>], i64 1, align 64
// CHECK: getelementptr inbounds float, ptr %X
// CHECK: call <16 x float> @llvm.fma.v16f32
// CHECK: = !{!"llvm.loop.unroll.full"}
// CHECK: = !{!"llvm.loop.unroll.disable"}
func.func @conv(
    %X: memref<4x58x58x16xf32> {llvm.noalias}, %K: memref<4x4x3x3x16x16xf32> {llvm.noalias},
    %B: memref<4x16xf32> {llvm.noalias}, %Y: memref<4x56x56x16xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %c56 = arith.constant 56 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %acc = memref.alloca() : memref<14x2xvector<16xf32>>
  scf.for %o = %c0 to %c2 step %c1 {
    %oc0 = arith.muli %o, %c2 : index
    scf.for %h = %c0 to %c56 step %c1 {
      scf.for %w = %c0 to %c4 step %c1 {
        %w0 = arith.muli %w, %c14 : index
        scf.for %t = %c0 to %c14 step %c1 {
          scf.for %u = %c0 to %c2 step %c1 {
            memref.store %zero, %acc[%t, %u] : memref<14x2xvector<16xf32>>
          } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
        scf.for %b = %c0 to %c4 step %c1 {
          scf.for %y = %c0 to %c3 step %c1 {
            %row = arith.addi %h, %y : index
            scf.for %x = %c0 to %c3 step %c1 {
              scf.for %c = %c0 to %c16 step %c1 {
                scf.for %t = %c0 to %c14 step %c1 {
                  %wt = arith.addi %w0, %t : index
                  %col = arith.addi %wt, %x : index
                  %in = memref.load %X[%b, %row, %col, %c] : memref<4x58x58x16xf32>
                  %ins = vector.broadcast %in : f32 to vector<16xf32>
                  scf.for %u = %c0 to %c2 step %c1 {
                    %oc = arith.addi %oc0, %u : index
                    %k = vector.load %K[%oc, %b, %y, %x, %c, %c0] : memref<4x4x3x3x16x16xf32>, vector<16xf32>
                    %a = memref.load %acc[%t, %u] : memref<14x2xvector<16xf32>>
                    %f = vector.fma %ins, %k, %a : vector<16xf32>
                    memref.store %f, %acc[%t, %u] : memref<14x2xvector<16xf32>>
                  } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
                } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
              } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
            } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
          } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
        scf.for %t = %c0 to %c14 step %c1 {
          %col = arith.addi %w0, %t : index
          scf.for %u = %c0 to %c2 step %c1 {
            %oc = arith.addi %oc0, %u : index
            %a = memref.load %acc[%t, %u] : memref<14x2xvector<16xf32>>
            %bias = vector.load %B[%oc, %c0] : memref<4x16xf32>, vector<16xf32>
            %s = arith.addf %a, %bias : vector<16xf32>
            %r = arith.maximumf %s, %zero : vector<16xf32>
            vector.store %r, %Y[%oc, %h, %col, %c0] : memref<4x56x56x16xf32>, vector<16xf32>
          } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
        } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      }
    }
  }
  func.return
}
