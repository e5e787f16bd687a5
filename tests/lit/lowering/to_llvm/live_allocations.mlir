// RUN: xrelay-opt %s -p convert-func-to-llvm | filecheck %s

// A failing function frees the heap buffers that it holds at that place, the newest first.
// CHECK-LABEL: llvm.func @frees
// CHECK: llvm.cond_br %first, ^bb1, ^[[NONE:.*]](%{{.*}} : i32)
// CHECK: %p = llvm.call @aligned_alloc
// CHECK: llvm.cond_br %second, ^bb2, ^[[P:.*]](%{{.*}} : i32)
// CHECK: %q = llvm.call @aligned_alloc
// CHECK: %[[STATUS:.*]] = llvm.call @callee
// CHECK: llvm.cond_br %{{.*}}, ^bb3, ^[[Q:.*]](%[[STATUS]] : i32)
// CHECK: llvm.call @free(%q)
// CHECK-NEXT: llvm.call @free(%p)
// CHECK: ^[[NONE]](%{{.*}}: i32):
// CHECK: ^[[P]](%{{.*}}: i32):
// CHECK-NEXT: llvm.call @free(%p)
// CHECK-NEXT: llvm.br ^[[NONE]](
func.func @frees(%first: i1, %second: i1, %n: i64) {
  cf.assert %first, "nothing is held"
  %p = llvm.call @aligned_alloc(%n, %n) : (i64, i64) -> !llvm.ptr
  cf.assert %second, "one buffer is held"
  %q = llvm.call @aligned_alloc(%n, %n) : (i64, i64) -> !llvm.ptr
  func.call @callee() : () -> ()
  llvm.call @free(%q) : (!llvm.ptr) -> ()
  llvm.call @free(%p) : (!llvm.ptr) -> ()
  func.return
}
func.func private @callee() -> ()
llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
