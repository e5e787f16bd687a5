// RUN: xrelay-opt %s -p convert-vector-to-llvm | filecheck %s

// CHECK-LABEL: func.func @memory
// CHECK:       [[P:%.*]] = llvm.getelementptr inbounds {{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:       [[V:%.*]] = llvm.load [[P]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:       llvm.intr.fma([[V]], [[V]], [[V]])
// CHECK:       llvm.store {{.*}} {alignment = 4 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
func.func @memory(%m: memref<4x64xf32>, %i: index, %j: index) {
  %v = vector.load %m[%i, %j] : memref<4x64xf32>, vector<16xf32>
  %w = vector.fma %v, %v, %v : vector<16xf32>
  vector.store %w, %m[%i, %j] {nontemporal = true} : memref<4x64xf32>, vector<16xf32>
  func.return
}

// A masked access may begin outside of the buffer: its address has no inbounds flag.
// CHECK-LABEL: func.func @masked
// CHECK:       llvm.icmp "slt" {{.*}} : vector<16xi64>
// CHECK:       llvm.getelementptr {{%.*}}[
// CHECK:       llvm.intr.masked.load {{.*}} {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
// CHECK:       llvm.intr.masked.store {{.*}} {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
func.func @masked(%m: memref<60xf32>, %i: index, %n: index, %else: vector<16xf32>) {
  %mask = vector.create_mask %n : vector<16xi1>
  %v = vector.maskedload %m[%i], %mask, %else : memref<60xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.maskedstore %m[%i], %mask, %v : memref<60xf32>, vector<16xi1>, vector<16xf32>
  func.return
}

// CHECK-LABEL: func.func @lanes
// CHECK:       [[P:%.*]] = llvm.mlir.poison : vector<4xf32>
// CHECK:       [[I:%.*]] = llvm.insertelement %x, [[P]]
// CHECK:       llvm.shufflevector [[I]], [[P]] [0, 0, 0, 0] : vector<4xf32>
// CHECK:       llvm.shufflevector {{.*}} [0, 5] : vector<4xf32>
// CHECK:       llvm.extractelement {{.*}} : vector<2xf32>
// CHECK:       llvm.insertelement {{.*}} : vector<4xf32>
// CHECK:       llvm.bitcast {{.*}} : vector<4xf32> to vector<4xi32>
func.func @lanes(%x: f32, %i: index) -> vector<4xi32> {
  %a = vector.broadcast %x : f32 to vector<4xf32>
  %b = vector.shuffle %a, %a [0, 5] : vector<4xf32>, vector<4xf32>
  %c = vector.extract %b[1] : f32 from vector<2xf32>
  %d = vector.insert %c, %a[%i] : f32 into vector<4xf32>
  %e = vector.bitcast %d : vector<4xf32> to vector<4xi32>
  func.return %e : vector<4xi32>
}

// CHECK-LABEL: func.func @reductions
// CHECK:       llvm.call_intrinsic "llvm.vector.reduce.add.v8i32"(%i) : (vector<8xi32>) -> i32
// CHECK:       llvm.call_intrinsic "llvm.vector.reduce.umin.v8i32"(%i) : (vector<8xi32>) -> i32
func.func @reductions(%i: vector<8xi32>) -> (i32, i32) {
  %0 = vector.reduction <add>, %i : vector<8xi32> into i32
  %1 = vector.reduction <minui>, %i : vector<8xi32> into i32
  func.return %0, %1 : i32, i32
}
