// RUN: xrelay-opt %s -p convert-func-to-llvm | filecheck %s

// A failing function frees its live heap buffers, the newest first.
// CHECK-LABEL: llvm.func @frees
// CHECK: llvm.cond_br %first, ^bb1, ^[[NONE:.*]](%{{.*}} : i32)
// CHECK: %p = llvm.call @xrelay_scratch_new
// CHECK: llvm.cond_br %second, ^bb2, ^[[P:.*]](%{{.*}} : i32)
// CHECK: %q = llvm.call @xrelay_scratch_new
// CHECK: %[[STATUS:.*]] = llvm.call @callee
// CHECK: llvm.cond_br %{{.*}}, ^bb3, ^[[Q:.*]](%[[STATUS]] : i32)
// CHECK: llvm.call @xrelay_scratch_free(%ctx, %q)
// CHECK-NEXT: llvm.call @xrelay_scratch_free(%ctx, %p)
// CHECK: ^[[NONE]](%{{.*}}: i32):
// CHECK: ^[[P]](%{{.*}}: i32):
// CHECK-NEXT: llvm.call @xrelay_scratch_free(%ctx, %p)
// CHECK-NEXT: llvm.br ^[[NONE]](
func.func @frees(%first: i1, %second: i1, %n: i64) {
  cf.assert %first, "nothing is held"
  %p = func.call @xrelay_scratch_new(%n, %n) : (i64, i64) -> !llvm.ptr
  cf.assert %second, "one buffer is held"
  %q = func.call @xrelay_scratch_new(%n, %n) : (i64, i64) -> !llvm.ptr
  func.call @callee() : () -> ()
  func.call @xrelay_scratch_free(%q) : (!llvm.ptr) -> ()
  func.call @xrelay_scratch_free(%p) : (!llvm.ptr) -> ()
  func.return
}
func.func private @callee() -> ()
func.func private @xrelay_scratch_new(i64, i64) -> !llvm.ptr
func.func private @xrelay_scratch_free(!llvm.ptr) -> ()
