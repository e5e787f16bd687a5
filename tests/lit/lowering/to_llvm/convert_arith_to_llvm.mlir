// RUN: xrelay-opt %s -p convert-arith-to-llvm | filecheck %s

// CHECK-LABEL: func.func @flags
// CHECK:       llvm.fadd %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
// CHECK:       llvm.fmul {{.*}} {fastmathFlags = #llvm.fastmath<reassoc,contract>} : f32
// CHECK:       llvm.add %i, %i overflow<nsw> : i32
// CHECK:       llvm.fcmp "olt" %x, %y : f32
func.func @flags(%x: f32, %y: f32, %i: i32) -> (f32, i32, i1) {
  %0 = arith.addf %x, %y fastmath<contract> : f32
  %1 = arith.mulf %0, %y fastmath<reassoc,contract> : f32
  %2 = arith.addi %i, %i overflow<nsw> : i32
  %3 = arith.cmpf olt, %x, %y : f32
  func.return %1, %2, %3 : f32, i32, i1
}

// Vectors are compared, selected and converted like scalars.
// CHECK-LABEL: func.func @vectors
// CHECK:       [[C:%.*]] = llvm.fcmp "ogt" %x, %x : vector<8xf32>
// CHECK:       llvm.select [[C]], %x, {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK:       llvm.fptosi {{.*}} : vector<8xf32> to vector<8xi32>
// CHECK:       llvm.call_intrinsic "llvm.maximum.v8f32"
// CHECK:       llvm.call_intrinsic "llvm.smin.v8i32"
func.func @vectors(%x: vector<8xf32>) -> vector<8xi32> {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %0 = arith.cmpf ogt, %x, %x : vector<8xf32>
  %1 = arith.select %0, %x, %zero : vector<8xi1>, vector<8xf32>
  %2 = arith.fptosi %1 : vector<8xf32> to vector<8xi32>
  %3 = arith.maximumf %x, %1 : vector<8xf32>
  %4 = arith.fptosi %3 : vector<8xf32> to vector<8xi32>
  %5 = arith.minsi %2, %4 : vector<8xi32>
  func.return %5 : vector<8xi32>
}

// index is i64.
// CHECK-LABEL: func.func @indices
// CHECK:       [[I:%.*]] = builtin.unrealized_conversion_cast %i : index to i64
// CHECK:       [[FOUR:%.*]] = llvm.mlir.constant(4) : i64
// CHECK:       llvm.mul [[I]], [[FOUR]] : i64
// CHECK:       llvm.trunc [[I]] : i64 to i32
// CHECK:       llvm.mlir.constant(dense<[0, 1]> : vector<2xi64>) : vector<2xi64>
func.func @indices(%i: index) -> (index, i32) {
  %c4 = arith.constant 4 : index
  %0 = arith.muli %i, %c4 : index
  %1 = arith.index_cast %i : index to i32
  %2 = arith.constant dense<[0, 1]> : vector<2xindex>
  func.return %0, %1 : index, i32
}

// Overflow of 64 bits wraps, as in sums: 3 * 2^62.
// CHECK-LABEL: func.func @far
// CHECK:       llvm.mlir.constant(-4611686018427387904) : i64
func.func @far() -> index {
  %c = arith.constant 13835058055282163712 : index
  func.return %c : index
}

// CHECK-LABEL: func.func @floor
// CHECK:       [[Q:%.*]] = llvm.sdiv %a, %b : i32
// CHECK:       [[R:%.*]] = llvm.srem %a, %b : i32
// CHECK:       llvm.icmp "ne" [[R]]
// CHECK:       llvm.sub [[Q]], {{.*}} : i32
func.func @floor(%a: i32, %b: i32) -> i32 {
  %0 = arith.floordivsi %a, %b : i32
  func.return %0 : i32
}

// CHECK-LABEL: func.func @other
// CHECK-NEXT:  math.sqrt
func.func @other(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  func.return %0 : f32
}

// -----

// A bf16 is represented by its bits.
// CHECK-LABEL: func.func @bf16
// CHECK:         llvm.mlir.constant(16256 : i16) : i16
// CHECK:         llvm.mlir.constant(dense<-16384> : vector<4xi16>) : vector<4xi16>
// CHECK:         llvm.select {{.*}} : i1, i16
func.func @bf16(%c: i1, %x: bf16) -> (bf16, vector<4xbf16>) {
  %one = arith.constant 1.0 : bf16
  %v = arith.constant dense<-2.0> : vector<4xbf16>
  %r = arith.select %c, %one, %x : bf16
  func.return %r, %v : bf16, vector<4xbf16>
}
