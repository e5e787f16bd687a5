// RUN: xrelay-opt %s -p convert-scf-parallel-to-calls --split-input-file | filecheck %s

// CHECK-LABEL: func.func private @k_parallel_0
// CHECK-SAME:    (%f: f32, %x: memref<64xf32> {llvm.noalias}, %begin: index, %end: index) attributes {xrelay.kernel = "k"}
// CHECK:         scf.for %t = %begin to %end step
// CHECK:           memref.store %f, %x[%t] : memref<64xf32>
// CHECK-LABEL: func.func private @k_parallel_0_task
// CHECK-SAME:    (%env: !llvm.ptr, %begin: index, %end: index) attributes {xrelay.kernel = "k"}
// CHECK:         llvm.getelementptr inbounds %env[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(f32, !llvm.ptr)>
// CHECK:         func.call @k_parallel_0(%f, %x, %begin, %end)
// CHECK-LABEL: func.func @k(
// CHECK:         %env = llvm.alloca {{.*}} x !llvm.struct<(f32, !llvm.ptr)> {alignment = 64 : i64}
// CHECK:         arith.constant 64 : index
// CHECK:         [[TASK:%.*]] = func.constant @k_parallel_0_task : (!llvm.ptr, index, index) -> ()
// CHECK:         func.call @xrelay_parallel_for([[TASK]], %env, {{%.*}})
// CHECK:       func.func private @xrelay_parallel_for((!llvm.ptr, index, index) -> (), !llvm.ptr, index) -> ()
func.func @k(%x: memref<64xf32> {llvm.noalias}, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  "scf.parallel"(%c0, %c64, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %f, %x[%i] : memref<64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

// Without captures there is no environment.
// CHECK-LABEL: func.func private @indices_parallel_0(%begin: index, %end: index)
// CHECK:         scf.for %t = %begin to %end step
// CHECK:           arith.muli %t, {{.*}} : index
// CHECK:           "test.op"(%i)
// CHECK-LABEL: func.func @indices()
// CHECK:         llvm.mlir.zero : !llvm.ptr
func.func @indices() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  "scf.parallel"(%c0, %c8, %c2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    "test.op"(%i) : (index) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @serial
// CHECK-NEXT:    func.return
// CHECK-NOT:   xrelay_parallel_for
func.func @serial() {
  func.return
}

// -----

// The amount of work is dynamic: n rows of m elements, each loaded, added (an index is not counted) and stored.
// CHECK-LABEL: func.func @rows
// CHECK:         [[TRIPS:%.*]] = arith.maxsi
// CHECK:         [[ROW:%.*]] = arith.minui %m, {{%.*}} : index
// CHECK:         [[STEPS:%.*]] = arith.constant 3 : index
// CHECK:         [[PRODUCT:%.*]] = arith.muli [[ROW]], [[STEPS]]
// CHECK:         [[INSIDE:%.*]] = arith.minui [[PRODUCT]]
// CHECK:         [[OUTSIDE:%.*]] = arith.minui [[TRIPS]]
// CHECK:         arith.muli [[OUTSIDE]], [[INSIDE]]
// CHECK:         [[SMALL:%.*]] = arith.cmpi ult
// CHECK:         scf.if [[SMALL]] {
// CHECK-NEXT:      [[BEGIN:%.*]] = arith.constant 0 : index
// CHECK-NEXT:      func.call @rows_parallel_0(%n, %m, %x, [[BEGIN]], [[TRIPS]])
// CHECK-NEXT:    } else {
// CHECK:           func.call @xrelay_parallel_for(
// CHECK-NEXT:    }
func.func @rows(%x: memref<64x64xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    scf.for %j = %c0 to %m step %c1 {
      %k = arith.addi %j, %c0 : index
      %0 = memref.load %x[%i, %k] : memref<64x64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %x[%i, %k] : memref<64x64xf32>
    }
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

// The work of an inner loop is unknown: the pool decides, as it also does if all is known.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     scf.if
// CHECK:         func.call @xrelay_parallel_for(
func.func @unknown(%x: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %m = memref.load %x[%i] : memref<?xindex>
    scf.for %j = %c0 to %m step %c1 {
      memref.store %j, %x[%i] : memref<?xindex>
    }
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
