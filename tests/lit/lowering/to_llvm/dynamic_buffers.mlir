// RUN: xrelay-opt %s -p convert-scf-to-branches,convert-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm | filecheck %s --check-prefix MEMREF
// RUN: xrelay-opt %s -p convert-scf-to-branches,convert-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm | filecheck %s
// RUN: xrelay-opt %s -p convert-scf-to-branches,convert-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm -t llvm-ir | filecheck %s --check-prefix IR

// The size of a dynamic buffer is all ones on overflow; the assertion names the nodes or the allocation's location.
// MEMREF-LABEL: func.func @main
// MEMREF:         %[[P:.*]] = llvm.call_intrinsic "llvm.umul.with.overflow.i64"(%{{.*}}, %{{.*}})
// MEMREF-NEXT:    %[[SIZE:.*]] = llvm.extractvalue %[[P]][0]
// MEMREF-NEXT:    %[[WRAPS:.*]] = llvm.extractvalue %[[P]][1]
// MEMREF:         llvm.select %[[WRAPS]], %{{.*}}, %[[SIZE]]
// MEMREF-NEXT:    func.call @xrelay_buffer_new(%{{.*}}) : (i64) -> !llvm.ptr
// MEMREF:         cf.assert %{{.*}}, "out of memory: a buffer of memref<?x4xf32>" {xrelay.sources = ["grow"]}
// MEMREF:         func.call @xrelay_buffer_free(%{{.*}}) : (!llvm.ptr) -> ()

// An assertion in a graph function that names its nodes is a check.
// CHECK: xrelay.checks = [{text = "out of memory: a buffer of memref<?x4xf32>", sources = ["grow"]}, {text = "shape mismatch: k >= 1", requires = #relay.requirements<k >= 1>, sources = ["pool"]}

// Results are stored through a pointer after the buffers; two extents that a check compares are kept for the message.
// CHECK-LABEL: llvm.func @main(
// CHECK-SAME:    %ctx{{[^,]*}}: !llvm.ptr, %x{{[^,]*}}: !llvm.ptr, %buffers{{[^,]*}}: !llvm.ptr, %n{{[^,]*}}: i64) -> i32
// CHECK:         %[[BUFFER:.*]] = llvm.call @xrelay_buffer_new(%ctx{{.*}}) : (!llvm.ptr, i64) -> !llvm.ptr
// CHECK:         llvm.mlir.constant(262 : i32)
// CHECK:         llvm.mlir.constant(518 : i32)
// CHECK:         llvm.call @xrelay_buffer_free(%ctx{{.*}}, %[[BUFFER]]) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK:         %[[FIRST:.*]] = llvm.getelementptr inbounds %buffers{{.*}}[0]
// CHECK-NEXT:    llvm.store %{{.*}}, %[[FIRST]] {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.getelementptr inbounds %buffers{{.*}}[1]
// CHECK-NEXT:    llvm.store %n{{.*}}, %[[SECOND]] {alignment = 8 : i64} : i64, !llvm.ptr
// CHECK:         llvm.mlir.constant(3) : i64
func.func @main(%x: memref<4xf32>, %n: index) -> (memref<?x4xf32>, index) attributes {xrelay.graph} {
  %a = memref.alloc(%n) {xrelay.sources = ["grow"]} : memref<?x4xf32>
  %one = arith.constant 1 : index
  %holds = arith.cmpi sge, %n, %one : index
  cf.assert %holds, "shape mismatch: k >= 1" {relay.requires = #relay.requirements<k >= 1>, xrelay.sources = ["pool"]}
  %r:2 = func.call @other(%x, %n) : (memref<4xf32>, index) -> (memref<?x4xf32>, index)
  memref.dealloc %a : memref<?x4xf32>
  func.return %r#0, %n : memref<?x4xf32>, index
}

// A branching function returns either buffer; the caller passes memory for the results.
// CHECK-LABEL: llvm.func @other(
// CHECK:         llvm.br ^[[AFTER:.*]](%{{.*}} : !llvm.ptr)
// CHECK:         ^[[AFTER]](%{{.*}}: !llvm.ptr):
func.func private @other(%x: memref<4xf32>, %n: index) -> (memref<?x4xf32>, index) attributes {xrelay.graph} {
  %one = arith.constant 1 : index
  %is_one = arith.cmpi eq, %n, %one : index
  %r = scf.if %is_one -> (memref<?x4xf32>) {
    %a = memref.alloc(%n) : memref<?x4xf32>
    scf.yield %a : memref<?x4xf32>
  } else {
    %b = memref.alloc() : memref<8x4xf32>
    %v = memref.reinterpret_cast %b to offset: [0], sizes: [%n, 4], strides: [4, 1] : memref<8x4xf32> to memref<?x4xf32>
    scf.yield %v : memref<?x4xf32>
  }
  func.return %r, %n : memref<?x4xf32>, index
}

// A cancelled loop has its own status; another thread may write the polled word.
// CHECK-LABEL: llvm.func @polls(
// CHECK:         %[[WORD:.*]] = llvm.getelementptr inbounds %ctx{{.*}}[6]
// CHECK:         %[[OLD:.*]] = llvm.cmpxchg %[[WORD]]
// CHECK-NEXT:    %[[GO:.*]] = llvm.extractvalue %[[OLD]][1]
// CHECK-NEXT:    llvm.mlir.constant(7 : i32)
// CHECK-NEXT:    llvm.cond_br %[[GO]]
func.func @polls() attributes {xrelay.graph} {
  %goes_on = func.call @xrelay_poll() : () -> i1
  cf.assert %goes_on, "cancelled"
  func.return
}
func.func private @xrelay_poll() -> i1

// IR-LABEL: define i32 @main(ptr %ctx, ptr %x, ptr %buffers, i64 %n)
// IR:         %[[ROOM:.*]] = alloca [2 x i64], i64 1, align 8
// IR:         call i32 @other(ptr %ctx, ptr %x, ptr %[[ROOM]], i64 %n)
// IR:         load ptr, ptr %{{.*}}, align 8
// IR-LABEL: define ptr @xrelay_buffer_new(ptr %ctx, i64 %bytes)
// IR-LABEL: define void @xrelay_buffer_free(ptr %ctx, ptr %buffer)
// IR-LABEL: define void @xrelay_release(ptr %ctx)

// CHECK-LABEL: llvm.func @xrelay_entry
// CHECK:         llvm.getelementptr inbounds %args[1]
// CHECK-NEXT:    %[[BUFFERS:.*]] = llvm.load
// CHECK:         llvm.call @main(%ctx{{[^,]*}}, %{{[^,]*}}, %[[BUFFERS]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-NEXT:    llvm.return
