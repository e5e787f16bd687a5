// RUN: xrelay-opt %s -p convert-math-to-llvm | filecheck %s

// CHECK-LABEL: func.func @vectors
// CHECK-NEXT:  llvm.intr.fma(%x, %x, %x) {fastmathFlags = #llvm.fastmath<contract>} : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
// CHECK-NEXT:  llvm.intr.sqrt
// CHECK-NEXT:  llvm.intr.fabs
// CHECK-NEXT:  llvm.call_intrinsic "llvm.roundeven.v8f32"
// CHECK-NEXT:  llvm.intr.copysign
func.func @vectors(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.fma %x, %x, %x fastmath<contract> : vector<8xf32>
  %1 = math.sqrt %0 : vector<8xf32>
  %2 = math.absf %1 : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %4 = math.copysign %3, %x : vector<8xf32>
  func.return %4 : vector<8xf32>
}

// CHECK-LABEL: func.func @scalars
// CHECK:       [[ROOT:%.*]] = llvm.intr.sqrt(%x) : (f32) -> f32
// CHECK:       llvm.fdiv {{.*}}, [[ROOT]] : f32
// CHECK:       llvm.call_intrinsic "llvm.abs.i32"(%i, {{.*}}) : (i32, i1) -> i32
// CHECK:       llvm.intr.exp(%d) : (f64) -> f64
func.func @scalars(%x: f32, %i: i32, %d: f64) -> (f32, i32, f64) {
  %0 = math.rsqrt %x : f32
  %1 = math.absi %i : i32
  %2 = math.exp %d : f64
  func.return %0, %1, %2 : f32, i32, f64
}

// CHECK-LABEL: func.func @other
// CHECK-NEXT:  arith.addf
func.func @other(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}

// -----

// Without an intrinsic: by name, lane by lane, declared once.
// CHECK-LABEL: func.func @library
// CHECK:         llvm.call @erf({{.*}}) : (f64) -> f64
// CHECK:         llvm.extractelement
// CHECK-NEXT:    llvm.call @cbrtf({{.*}}) : (f32) -> f32
// CHECK-NEXT:    llvm.insertelement
// CHECK:         llvm.extractelement
// CHECK-NEXT:    llvm.call @cbrtf
// CHECK:         llvm.call @erf
// CHECK:       llvm.func @cbrtf(f32) -> f32
// CHECK-NEXT:  llvm.func @erf(f64) -> f64
// CHECK-NOT:   llvm.func
func.func @library(%x: f64, %v: vector<2xf32>) -> (f64, vector<2xf32>) {
  %0 = math.erf %x : f64
  %1 = math.cbrt %v : vector<2xf32>
  %2 = math.erf %0 : f64
  func.return %2, %1 : f64, vector<2xf32>
}
