// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s
// RUN: xrelay-opt %s -p convert-loop-to-scf,convert-scf-parallel-to-calls,convert-scf-to-branches,convert-memref-to-llvm,convert-vector-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm | filecheck %s --check-prefix LLVM

// One unsigned comparison, the value recorded on failure, and an assertion before the access.
// CHECK-LABEL: func.func private @one
// CHECK: %[[OK:.*]] = arith.cmpi ult, %a, %{{.*}} : index
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: %[[V:.*]] = arith.index_cast %a : index to i64
// CHECK-NEXT: func.call @xrelay_record_index(%[[V]], %{{.*}}, %{{.*}}) : (i64, i64, i64) -> ()
// CHECK-NEXT: }
// CHECK-NEXT: cf.assert %[[OK]], "index out of range"
// CHECK-NEXT: memref.load %X[%a]
func.func private @one(%X: memref<9xf32>, %at: memref<4xindex>, %Y: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    %a = loop.load %at[%i] : memref<4xindex>
    %k = loop.checked_index %a of 9
    %x = loop.load %X[%k] : memref<9xf32>
    loop.store %x, %Y[%i] : memref<4xf32>
  }
  func.return
}

// A dynamic size: both limits are computed from it.
// CHECK-LABEL: func.func private @value
// CHECK: %[[SUM:.*]] = arith.addi %a, %n : index
// CHECK-NEXT: %[[ROOM:.*]] = arith.addi %n, %n : index
// CHECK-NEXT: %[[OK:.*]] = arith.cmpi ult, %[[SUM]], %[[ROOM]] : index
// CHECK: %[[HIGH:.*]] = arith.index_cast %n : index to i64
// CHECK: %[[LOW:.*]] = arith.subi %{{.*}}, %[[HIGH]] : i64
// CHECK: func.call @xrelay_record_index(%{{.*}}, %[[LOW]], %[[HIGH]])
// CHECK: cf.assert %[[OK]], "index out of range"
func.func private @value(%X: memref<?xf32> {loop.extents = array<i64: 0>}, %at: memref<4xindex>, %Y: memref<4xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    %a = loop.load %at[%i] : memref<4xindex>
    %k = loop.checked_index %a of %n from_end
    %x = loop.load %X[%k] : memref<?xf32>
    loop.store %x, %Y[%i] : memref<4xf32>
  }
  func.return
}

// An index that the loop bounds prove valid is not checked.
// CHECK-LABEL: func.func private @known
// CHECK-NOT: cf.assert
// CHECK-LABEL: func.func private @lanes
func.func private @known(%X: memref<9xf32>, %Y: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    %k = loop.checked_index %i of 9 from_end
    %x = loop.load %X[%k] : memref<9xf32>
    loop.store %x, %Y[%i] : memref<4xf32>
  }
  func.return
}

// All lanes share one assertion; negative indices count from the end in each.
// CHECK: %[[SUM:.*]] = arith.addi %a, %{{.*}} : vector<8xindex>
// CHECK: arith.cmpi ult, %[[SUM]], %{{.*}} : vector<8xindex>
// CHECK: %[[SOME:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK-NEXT: scf.if %[[SOME]] {
// CHECK: func.call @xrelay_record_index
// CHECK: cf.assert %{{.*}}, "index out of range"
// CHECK: arith.select %{{.*}}, %[[SUM]], %a : vector<8xi1>, vector<8xindex>
// CHECK: func.func private @xrelay_record_index(i64, i64, i64) -> ()
func.func private @lanes(%at: memref<8xindex>, %Y: memref<8xindex>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 8 vectorized {
    %a = loop.load %at[%i] : memref<8xindex>
    %k = loop.checked_index %a of 9 from_end
    loop.store %k, %Y[%i] : memref<8xindex>
  }
  func.return
}

// The first check to set the mark in the context writes value and limits after it.
// LLVM-LABEL: llvm.func internal @xrelay_record_index(
// LLVM: llvm.getelementptr inbounds %{{.*}}[1] : (!llvm.ptr) -> !llvm.ptr, i64
// LLVM-NEXT: llvm.cmpxchg
// LLVM-NEXT: llvm.extractvalue
// LLVM-NEXT: llvm.cond_br
// LLVM: llvm.getelementptr inbounds %{{.*}}[2]
// LLVM: llvm.getelementptr inbounds %{{.*}}[3]
// LLVM: llvm.getelementptr inbounds %{{.*}}[4]
