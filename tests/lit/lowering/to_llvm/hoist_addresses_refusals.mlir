// RUN: xrelay-opt %s -p llvm-hoist-addresses | filecheck %s

// An index with 128 terms, the sums of seven ops, stays whole in a loop to be unrolled.
// CHECK-LABEL: llvm.func @doubled
// CHECK:         ^columns{{.*}}(%{{.*}}: i64):
// CHECK:           %a7 = llvm.add %a6, %a6 overflow<nsw,nuw> : i64
// CHECK-NEXT:      %p = llvm.getelementptr inbounds %x[%a7] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.store %{{.*}}, %p : i64, !llvm.ptr
llvm.func @doubled(%x: !llvm.ptr, %n: i64, %zero: i64, %one: i64) {
  llvm.br ^rows(%zero : i64)
^rows(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^before, ^end
^before:
  llvm.br ^columns(%zero : i64)
^columns(%j: i64):
  %c4 = llvm.mlir.constant(4 : i64) : i64
  %t = llvm.icmp "slt" %j, %c4 : i64
  llvm.cond_br %t, ^body, ^latch
^body:
  %a1 = llvm.add %i, %j overflow<nsw, nuw> : i64
  %a2 = llvm.add %a1, %a1 overflow<nsw, nuw> : i64
  %a3 = llvm.add %a2, %a2 overflow<nsw, nuw> : i64
  %a4 = llvm.add %a3, %a3 overflow<nsw, nuw> : i64
  %a5 = llvm.add %a4, %a4 overflow<nsw, nuw> : i64
  %a6 = llvm.add %a5, %a5 overflow<nsw, nuw> : i64
  %a7 = llvm.add %a6, %a6 overflow<nsw, nuw> : i64
  %p = llvm.getelementptr inbounds %x[%a7] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %j, %p : i64, !llvm.ptr
  %k = llvm.add %j, %one : i64
  llvm.br ^columns(%k : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^latch:
  %l = llvm.add %i, %one : i64
  llvm.br ^rows(%l : i64)
^end:
  llvm.return
}
