// RUN: xrelay-opt %s -p convert-memref-to-llvm | filecheck %s

// CHECK-LABEL: func.func @access
// CHECK:         [[I:%.*]] = builtin.unrealized_conversion_cast %i : index to i64
// CHECK:         [[S:%.*]] = llvm.mlir.constant(8) : i64
// CHECK:         [[M:%.*]] = llvm.mul [[I]], [[S]] overflow<nsw,nuw> : i64
// CHECK:         [[A:%.*]] = llvm.add [[M]], {{.*}} overflow<nsw,nuw> : i64
// CHECK:         [[P:%.*]] = llvm.getelementptr inbounds {{.*}}[[[A]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         llvm.load [[P]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:         llvm.store {{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
func.func @access(%m: memref<4x8xf32>, %i: index, %j: index) {
  %v = memref.load %m[%i, %j] : memref<4x8xf32>
  memref.store %v, %m[%j, %i] : memref<4x8xf32>
  func.return
}

// Constant indices fold into the offset, and determine the alignment if the buffer's is known.
// CHECK-LABEL: func.func @constants
// CHECK:         llvm.getelementptr inbounds {{.*}}[19] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.load {{.*}} {alignment = 4 : i64}
// CHECK:         llvm.getelementptr inbounds {{.*}}[16] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.load {{.*}} {alignment = 64 : i64}
func.func @constants(%m: memref<4x8xf32> {llvm.align = 64 : i64}) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %v = memref.load %m[%c2, %c3] : memref<4x8xf32>
  %w = memref.load %m[%c2, %c0] : memref<4x8xf32>
  func.return %v, %w : f32, f32
}

// Stack buffers are in the entry block, 64-byte aligned; booleans are bytes.
// CHECK-LABEL: func.func @buffers
// CHECK:         llvm.alloca {{.*}} x !llvm.array<4 x i8> {alignment = 64 : i64}
// CHECK:         llvm.alloca {{.*}} x !llvm.array<28 x vector<16xf32>> {alignment = 64 : i64}
// CHECK:       ^{{.*}}:
// CHECK:         llvm.store {{.*}} {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr
// CHECK:         [[B:%.*]] = llvm.zext %c : i1 to i8
// CHECK:         llvm.store [[B]], {{.*}} : i8, !llvm.ptr
func.func @buffers(%v: vector<16xf32>, %i: index, %c: i1) {
  cf.br ^next
^next:
  %a = memref.alloca() : memref<14x2xvector<16xf32>>
  %b = memref.alloca() : memref<4xi1>
  memref.store %v, %a[%i, %i] : memref<14x2xvector<16xf32>>
  memref.store %c, %b[%i] : memref<4xi1>
  func.return
}

// CHECK-LABEL: func.func @views
// CHECK:         [[V:%.*]] = llvm.getelementptr inbounds {{.*}}[256] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         llvm.getelementptr inbounds [[V]][{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         llvm.getelementptr inbounds {{.*}}[10] : (!llvm.ptr) -> !llvm.ptr, f32
func.func @views(%arena: memref<?xi8>, %i: index) -> f32 {
  %c256 = arith.constant 256 : index
  %v = memref.view %arena[%c256][] : memref<?xi8> to memref<8x8xf32>
  %s = memref.subview %v[%i, 2][2, 2][1, 1] : memref<8x8xf32> to memref<2x2xf32, strided<[8, 1], offset: ?>>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = memref.load %s[%c1, %c2] : memref<2x2xf32, strided<[8, 1], offset: ?>>
  func.return %x : f32
}

// CHECK-LABEL: func.func @copies
// CHECK:         llvm.call_intrinsic "llvm.memmove.p0.p0.i64"({{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
func.func @copies(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  "memref.copy"(%a, %b) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @heap
// CHECK:         [[ALIGNMENT:%.*]] = llvm.mlir.constant(64) : i64
// CHECK:         [[BYTES:%.*]] = llvm.mlir.constant(252) : i64
// CHECK:         [[P:%.*]] = func.call @xrelay_scratch_new([[ALIGNMENT]], [[BYTES]]) : (i64, i64) -> !llvm.ptr
// CHECK:         cf.assert {{.*}}, "out of memory: a buffer of memref<63xf32>"
// CHECK:         func.call @xrelay_scratch_free([[P]]) : (!llvm.ptr) -> ()
func.func @heap(%i: index, %x: f32) {
  %a = memref.alloc() : memref<63xf32>
  memref.store %x, %a[%i] : memref<63xf32>
  memref.dealloc %a : memref<63xf32>
  func.return
}

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-NEXT:    arith.addi
func.func @nothing_to_do(%i: index) -> index {
  %0 = arith.addi %i, %i : index
  func.return %0 : index
}
