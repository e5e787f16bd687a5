// RUN: xrelay-opt %s -p 'llvm-recursion-to-frames{call-limit=7}' | filecheck %s

// @main is not recursive and remains unchanged; the messages for limit and memory follow the existing checks.
// CHECK: xrelay.checks = [{text = "n >= 1"}, {text = "@f: more than 7 {{.*}}?"}, {text = "out of memory: the frames of @f"}, {text = "@even: {{.*}}"}, {{.*}} {text = "@odd: {{.*}}"}, {{.*}}]
module attributes {xrelay.checks = [{text = "n >= 1"}]} {

// CHECK-LABEL: llvm.func @main
// CHECK-NEXT:    llvm.call @f(%ctx, %x)
// CHECK-NEXT:    llvm.call @even(%ctx, %x)
// CHECK-NEXT:    llvm.return
llvm.func @main(%ctx: !llvm.ptr, %x: !llvm.ptr) -> i32 {
  %s = llvm.call @f(%ctx, %x) : (!llvm.ptr, !llvm.ptr) -> i32
  %t = llvm.call @even(%ctx, %x) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.return %t : i32
}

// The function passes its arguments on in an array.
// CHECK-LABEL: llvm.func @f(
// CHECK:         %[[ARRAY:.*]] = llvm.alloca %{{.*}} x !llvm.array<1 x i64>
// CHECK:         llvm.call @f_frames(%{{.*}}, %{{.*}}, %[[ARRAY]])
llvm.func @f(%ctx: !llvm.ptr, %x: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %c = llvm.call @test(%ctx, %x) : (!llvm.ptr, !llvm.ptr) -> i32
  %b = llvm.icmp "eq" %c, %zero : i32
  llvm.cond_br %b, ^bb1, ^bb2(%c : i32)
^bb1:
  %s = llvm.call @f(%ctx, %x) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.cond_br %b, ^bb2(%s : i32), ^bb2(%c : i32)
^bb2(%status: i32):
  llvm.return %status : i32
}
// CHECK-LABEL: llvm.func @even(
// CHECK:         llvm.call @even_frames
// CHECK-NOT:   llvm.func @odd
llvm.func @even(%ctx: !llvm.ptr, %x: !llvm.ptr) -> i32 {
  %s = llvm.call @odd(%ctx, %x) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.return %s : i32
}
llvm.func @odd(%ctx: !llvm.ptr, %y: !llvm.ptr) -> i32 {
  %one = llvm.mlir.constant(1 : i64) : i64
  %results = llvm.alloca %one x !llvm.array<2 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %t = llvm.call @test(%ctx, %results) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.store %one, %results {alignment = 64 : i64} : i64, !llvm.ptr
  %s = llvm.call @even(%ctx, %y) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.return %s : i32
}
llvm.func @test(!llvm.ptr, !llvm.ptr) -> i32
}

// Constants are at the beginning; the first frame has no caller.
// CHECK-LABEL: llvm.func @f_frames(%ctx_{{.*}}: !llvm.ptr, %entry: i64, %arguments: !llvm.ptr) -> i32
// CHECK-NEXT:    %zero = llvm.mlir.constant(0 : i32) : i32
// CHECK:         %[[STATE:.*]] = llvm.alloca %{{.*}} x !llvm.array<5 x i64>
// CHECK:         %[[PUSHED:.*]] = llvm.call @xrelay_push_frame(%ctx_{{.*}}, %[[STATE]]
// CHECK:         llvm.cond_br %{{.*}}, ^[[F:bb[0-9]+]](%{{.*}} : !llvm.ptr), ^[[LEAVE:bb[0-9]+]](%[[PUSHED]] : i32)
// Values that other blocks use are stored in the frame, a boolean as a byte.
// CHECK:       ^[[F]](%[[X:.*]]: !llvm.ptr):
// CHECK:         %[[SLOT:.*]] = llvm.getelementptr inbounds %{{.*}}[3]
// CHECK-NEXT:    llvm.store %[[X]], %[[SLOT]]
// CHECK-NEXT:    %c = llvm.call @test(%ctx_{{.*}}, %[[X]])
// CHECK:         %b = llvm.icmp "eq" %c, %zero
// CHECK:         llvm.zext %b : i1 to i8
// The call stores its label, and pushes a frame with the argument; if the limit is exceeded, the status is returned.
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr
// CHECK:         llvm.mlir.constant(518 : i32)
// CHECK:         llvm.mlir.constant(774 : i32)
// CHECK:         %[[AGAIN:.*]] = llvm.call @xrelay_push_frame(%ctx_{{.*}}, %[[STATE]]
// CHECK:         llvm.cond_br %{{.*}}, ^[[F]](%{{.*}} : !llvm.ptr), ^[[AFTER:bb[0-9]+]](%[[AGAIN]] : i32)
// CHECK:       ^[[AFTER]](%[[STATUS:.*]]: i32):
// CHECK:         llvm.trunc %{{.*}} : i8 to i1
// CHECK:         llvm.cond_br %{{.*}}, ^{{.*}}(%[[STATUS]] : i32), ^{{.*}}(%{{.*}} : i32)
// CHECK:         llvm.br ^[[AFTER]](%{{.*}} : i32)
// CHECK-NEXT:  ^[[LEAVE]](%[[LAST:.*]]: i32):
// CHECK-NEXT:    llvm.call @xrelay_free_frames(%ctx_{{.*}}, %[[STATE]])
// CHECK-NEXT:    llvm.return %[[LAST]]

// A callee's results are words of the frame, aligned as words. A return compares its label with those of all members.
// CHECK-LABEL: llvm.func @even_frames
// CHECK:         %[[FRAME:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[RESULTS:.*]] = llvm.getelementptr inbounds %{{.*}}[3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    %t_1 = llvm.call @test(%ctx_{{.*}}, %[[RESULTS]])
// CHECK-NEXT:    llvm.store %one{{.*}}, %[[RESULTS]] {alignment = 8 : i64} : i64, !llvm.ptr
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.mlir.constant(-1) : i64
// CHECK:         %[[LABEL:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-NEXT:    %[[ZERO:.*]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT:    llvm.icmp "eq" %[[LABEL]], %[[ZERO]] : i64
// Segments of frames are buffers of the run.
// CHECK:       llvm.func internal @xrelay_push_frame
// CHECK:         llvm.call @xrelay_buffer_new(%ctx
// CHECK:       llvm.func internal @xrelay_free_frames
// CHECK:         llvm.call @xrelay_buffer_free(%ctx
// CHECK:       llvm.func @xrelay_buffer_new
