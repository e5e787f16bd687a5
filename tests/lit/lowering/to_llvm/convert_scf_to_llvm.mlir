// RUN: xrelay-opt %s -p convert-scf-to-llvm | filecheck %s
// The passes that it combines yield the same text.
// RUN: xrelay-opt %s -p convert-scf-to-branches,convert-memref-to-llvm,convert-vector-to-llvm,convert-arith-to-llvm,convert-math-to-llvm,convert-cf-to-llvm,convert-func-to-llvm | filecheck %s

// CHECK-LABEL: llvm.func @sum(%ctx: !llvm.ptr, %x: !llvm.ptr {llvm.align = 64 : i64}, %y: !llvm.ptr, %n: i64) -> i32
// CHECK-NOT:   unrealized_conversion_cast
// CHECK:       llvm.br ^[[HEAD:.*]](%{{.*}}, %{{.*}} : i64, f32)
// CHECK:       ^[[HEAD]](%i: i64, %a: f32):
// CHECK-NEXT:    %[[MORE:.*]] = llvm.icmp "slt" %i, %n : i64
// CHECK-NEXT:    llvm.cond_br %[[MORE]], ^[[BODY:.*]], ^[[END:.*]]
// CHECK:       ^[[BODY]]:
// CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr inbounds %x[%i]
// CHECK-NEXT:    %[[V:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:    %[[S:.*]] = llvm.fadd %a, %[[V]]
// CHECK-NEXT:    %[[NEXT:.*]] = llvm.add %i, %{{.*}} overflow<nsw> : i64
// CHECK-NEXT:    llvm.br ^[[HEAD]](%[[NEXT]], %[[S]] : i64, f32) {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
// CHECK:       ^[[END]]:
// CHECK-NEXT:    llvm.store %a, %y {alignment = 4 : i64}
// CHECK:         llvm.return %{{.*}} : i32
func.func @sum(%x: memref<64xf32> {llvm.align = 64 : i64}, %y: memref<1xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %a, %v : f32
    scf.yield %s : f32
  } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  memref.store %r, %y[%c0] : memref<1xf32>
  func.return
}

// Calls and assertions end blocks, and stack buffers come first.
// CHECK-LABEL: llvm.func @calls
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1) : i64
// CHECK-NEXT:    llvm.alloca %[[ONE]] x !llvm.array<1 x f32>
// CHECK:         llvm.cond_br %c, ^{{.*}}, ^[[FAIL:.*]](%{{.*}} : i32)
// CHECK:         llvm.call @sum(%ctx_1, %x_1, %{{.*}}, %{{.*}})
func.func @calls(%x: memref<64xf32>, %c: i1) {
  cf.assert %c, "shape mismatch"
  %n = arith.constant 64 : index
  %y = memref.alloca() : memref<1xf32>
  func.call @sum(%x, %y, %n) : (memref<64xf32>, memref<1xf32>, index) -> ()
  func.return
}

// A function with blocks is converted step by step.
// CHECK-LABEL: llvm.func @blocks
// CHECK:         llvm.cond_br %{{.*}}, ^[[LEFT:.*]](%{{.*}} : i64), ^[[RIGHT:.*]](%{{.*}} : i64)
// CHECK:       ^[[LEFT]](%{{.*}}: i64):
// CHECK:         llvm.icmp "slt"
func.func @blocks(%c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.cond_br %c, ^left(%n : index), ^right(%n : index)
^left(%m: index):
  scf.for %i = %c0 to %m step %c1 {
  }
  func.return
^right(%k: index):
  func.return
}

// So is a function with an op that no pattern matches; the op stays.
// CHECK-LABEL: llvm.func @unknown
// CHECK:         "test.op"({{.*}}) : (index) -> ()
// CHECK:         llvm.add
func.func @unknown(%n: index) {
  "test.op"(%n) : (index) -> ()
  %m = arith.addi %n, %n : index
  func.return
}
