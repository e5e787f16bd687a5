// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: llvm.func @ops
llvm.func @ops(%x: vector<8xf32>, %i: vector<8xi32>, %m: vector<8xi1>, %p: !llvm.ptr, %n: i64, %s: i32) {
  // CHECK: llvm.fcmp "olt" %x, %x : vector<8xf32>
  %0 = llvm.fcmp "olt" %x, %x : vector<8xf32>
  // CHECK: llvm.select %m, %x, %x : vector<8xi1>, vector<8xf32>
  %1 = llvm.select %m, %x, %x : vector<8xi1>, vector<8xf32>
  // CHECK: llvm.extractelement %x[%n : i64] : vector<8xf32>
  %2 = llvm.extractelement %x[%n : i64] : vector<8xf32>
  // CHECK: llvm.mlir.poison : vector<8xf32>
  %3 = llvm.mlir.poison : vector<8xf32>
  // CHECK: llvm.mlir.zero : !llvm.ptr
  %4 = llvm.mlir.zero : !llvm.ptr
  // CHECK: llvm.fptosi %x : vector<8xf32> to vector<8xi32>
  %5 = llvm.fptosi %x : vector<8xf32> to vector<8xi32>
  // CHECK: llvm.fptoui %x : vector<8xf32> to vector<8xi32>
  %6 = llvm.fptoui %x : vector<8xf32> to vector<8xi32>
  // CHECK: llvm.uitofp %i : vector<8xi32> to vector<8xf32>
  %7 = llvm.uitofp %i : vector<8xi32> to vector<8xf32>
  // CHECK: llvm.intr.masked.load %p, %m, %x {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %8 = llvm.intr.masked.load %p, %m, %x {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  // CHECK: llvm.intr.masked.store %i, %p, %m {alignment = 4 : i32} : vector<8xi32>, vector<8xi1> into !llvm.ptr
  llvm.intr.masked.store %i, %p, %m {alignment = 4 : i32} : vector<8xi32>, vector<8xi1> into !llvm.ptr
  // CHECK: llvm.cmpxchg %p, %s, %s monotonic monotonic : !llvm.ptr, i32
  %9 = llvm.cmpxchg %p, %s, %s monotonic monotonic : !llvm.ptr, i32
  // CHECK: llvm.br ^{{.*}} {loop_annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>, mustProgress = true>}
  llvm.br ^end {loop_annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>, mustProgress = true>}
^end:
  llvm.return
}
