// RUN: xrelay-opt %s -t llvm-ir | filecheck %s

// CHECK: @table = private constant [4 x float] [float 1.000000e+00, float 2.000000e+00, float 5.000000e-01, float 0x7FF0000000000000], align 64
llvm.mlir.global private constant @table(dense<[1.0, 2.0, 0.5, 0x7F800000]> : tensor<4xf32>) {alignment = 64 : i64} : !llvm.array<4 x f32>

// CHECK-LABEL: define i32 @numbers(i32 %a, i32 %b) {
// CHECK-NEXT:  entry:
// CHECK-NEXT:    %s = add nuw nsw i32 %a, %b
// CHECK-NEXT:    %d = sdiv i32 %s, 3
// CHECK-NEXT:    %c = icmp slt i32 %d, -1
// CHECK-NEXT:    %w = zext i1 %c to i32
// CHECK-NEXT:    ret i32 %w
llvm.func @numbers(%a: i32, %b: i32) -> i32 {
  %s = llvm.add %a, %b overflow<nsw,nuw> : i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %d = llvm.sdiv %s, %three : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %c = llvm.icmp "slt" %d, %minus : i32
  %w = llvm.zext %c : i1 to i32
  llvm.return %w : i32
}

// CHECK-LABEL: define <4 x float> @vectors(<4 x float> %x, <4 x i1> %m, ptr noalias align 64 %p)
// CHECK:         %f = call contract <4 x float> @llvm.fma.v4f32(<4 x float> %x, <4 x float> splat (float 2.000000e+00), <4 x float> zeroinitializer)
// CHECK:         %g = fmul reassoc contract <4 x float> %f, <float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 0x3FD99999A0000000>
// CHECK:         %l = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %p, <4 x i1> %m, <4 x float> %g)
// CHECK:         call void @llvm.masked.store.v4f32.p0(<4 x float> %l, ptr align 4 %p, <4 x i1> %m)
// CHECK:         %h = shufflevector <4 x float> %l, <4 x float> poison, <2 x i32> <i32 1, i32 poison>
// CHECK:         store <4 x float> %l, ptr %p, align 16, !nontemporal [[NT:!.*]]
llvm.func @vectors(%x: vector<4xf32>, %m: vector<4xi1>, %p: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}) -> vector<4xf32> {
  %two = llvm.mlir.constant(dense<2.0> : vector<4xf32>) : vector<4xf32>
  %zero = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
  %k = llvm.mlir.constant(dense<[1.0, 2.0, 3.0, 0.4]> : vector<4xf32>) : vector<4xf32>
  %f = llvm.intr.fma(%x, %two, %zero) {fastmathFlags = #llvm.fastmath<contract>} : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %g = llvm.fmul %f, %k {fastmathFlags = #llvm.fastmath<reassoc,contract>} : vector<4xf32>
  %l = llvm.intr.masked.load %p, %m, %g {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.store %l, %p, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  %q = llvm.mlir.poison : vector<4xf32>
  %h = llvm.shufflevector %l, %q [1, -1] : vector<4xf32>
  llvm.store %l, %p {alignment = 16 : i64, nontemporal} : vector<4xf32>, !llvm.ptr
  llvm.return %l : vector<4xf32>
}

// CHECK-LABEL: define <2 x float> @zeros()
// CHECK:         ret <2 x float> <float -0.000000e+00, float 0.000000e+00>
llvm.func @zeros() -> vector<2xf32> {
  %zeros = llvm.mlir.constant(dense<[-0.0, 0.0]> : vector<2xf32>) : vector<2xf32>
  llvm.return %zeros : vector<2xf32>
}

// CHECK-LABEL: define void @loop(i64 %n) {
// CHECK:       header:
// CHECK-NEXT:    %i = phi i64 [ 0, %entry ], [ %next, %body ]
// CHECK:         br label %header, !llvm.loop [[LOOP:!.*]]
llvm.func @loop(%n: i64) {
  %zero = llvm.mlir.constant(0) : i64
  %one = llvm.mlir.constant(1) : i64
  llvm.br ^header(%zero : i64)
^header(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %next = llvm.add %i, %one : i64
  llvm.br ^header(%next : i64) {loop_annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>, vectorize = <disable = true>>}
^end:
  llvm.return
}

// CHECK: define internal void @attributes() noinline "target-cpu"="znver4" {
llvm.func internal @attributes() attributes {no_inline, target_cpu = "znver4"} {
  llvm.return
}

// CHECK: declare i32 @outside(ptr, i64)
llvm.func @outside(!llvm.ptr, i64) -> i32

// CHECK: declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
// CHECK: [[NT]] = !{i32 1}
// CHECK: = !{!"llvm.loop.unroll.count", i32 4}
// CHECK: = !{!"llvm.loop.vectorize.enable", i1 false}
// CHECK: [[LOOP]] = distinct !{[[LOOP]], !{{.*}}, !{{.*}}}
