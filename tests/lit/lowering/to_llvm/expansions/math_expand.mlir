// RUN: xrelay-opt %s -p math-expand --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p math-expand,math-expand --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p 'math-expand{scalef=true}' --split-input-file | filecheck %s --check-prefix SCALEF
// RUN: xrelay-opt %s -p 'math-expand{fma=true}' --split-input-file | filecheck %s --check-prefix FMA

// Two uses, one function.
// CHECK-LABEL: func.func @vector
// CHECK-NEXT:  [[A:%.*]] = func.call @xrelay_exp_v16f32(%x) : (vector<16xf32>) -> vector<16xf32>
// CHECK-NEXT:  [[B:%.*]] = func.call @xrelay_exp_v16f32([[A]]) : (vector<16xf32>) -> vector<16xf32>
// CHECK-NEXT:  func.return [[B]]
// CHECK:       func.func private @xrelay_exp_v16f32({{.*}}: vector<16xf32>) -> vector<16xf32> attributes {llvm.always_inline}
// CHECK-NOT:   math.exp
// CHECK:       arith.constant dense<1.44269502> : vector<16xf32>
// CHECK:       arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK:       arith.bitcast {{.*}} : vector<16xf32> to vector<16xi32>
// CHECK:       [[RESULT:%.*]] = arith.select {{.*}}, [[ZERO:%.*]], {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK-NEXT:  func.return [[RESULT]]
// CHECK-NOT:   func.func
func.func @vector(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.exp %0 : vector<16xf32>
  func.return %1 : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @scalar
// CHECK-NEXT:  func.call @xrelay_log_f32(%x)
// CHECK-NEXT:  func.call @xrelay_tanh_f32
// CHECK-NEXT:  func.call @xrelay_erf_f32
// CHECK-NOT:   math.{{log|tanh|erf}}
func.func @scalar(%x: f32) -> f32 {
  %0 = math.log %x : f32
  %1 = math.tanh %0 : f32
  %2 = math.erf %1 : f32
  func.return %2 : f32
}

// -----

// The C library computes sin and cos of great numbers.
// CHECK-LABEL: func.func @waves
// CHECK-NEXT:  func.call @xrelay_sin_v8f32(%x)
// CHECK-NEXT:  func.call @xrelay_cos_f64(%y)
// CHECK:       func.func private @xrelay_sin_v8f32
// CHECK:       arith.extf {{.*}} : vector<8xf32> to vector<8xf64>
// CHECK:       [[ANY:%.*]] = vector.reduction <or>, {{.*}} : vector<8xi1> into i1
// CHECK-NEXT:  scf.if [[ANY]] -> (vector<8xf32>) {
// CHECK-NEXT:    llvm.intr.sin
// CHECK:       func.func private @xrelay_cos_f64
// CHECK:       [[FAR:%.*]] = arith.cmpf oge
// CHECK-NEXT:  scf.if [[FAR]] -> (f64) {
// CHECK-NEXT:    llvm.intr.cos
func.func @waves(%x: vector<8xf32>, %y: f64) -> (vector<8xf32>, f64) {
  %0 = math.sin %x : vector<8xf32>
  %1 = math.cos %y : f64
  func.return %0, %1 : vector<8xf32>, f64
}

// -----

// log and erf of f64, f16 and other functions stay.
// CHECK-LABEL: func.func @left_alone
// CHECK-NEXT:  math.log %x : f64
// CHECK-NEXT:  math.sqrt %y : f32
// CHECK-NEXT:  math.exp %z : f16
// CHECK-NEXT:  func.return
func.func @left_alone(%x: f64, %y: f32, %z: f16) -> (f64, f32, f16) {
  %0 = math.log %x : f64
  %1 = math.sqrt %y : f32
  %2 = math.exp %z : f16
  func.return %0, %1, %2 : f64, f32, f16
}

// -----

// A function whose name is taken gets another name.
// CHECK-LABEL: func.func @taken
// CHECK-NEXT:  func.call @xrelay_exp_f32_1(%x)
// CHECK:       func.func private @xrelay_exp_f32(f32) -> f32
// CHECK-NOT:   always_inline
// CHECK:       func.func private @xrelay_exp_f32_1
func.func @taken(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  func.return %0 : f32
}
func.func private @xrelay_exp_f32(f32) -> f32

// -----

// The instruction exists for vectors of 512 bits. LLVM selects it for others.
// SCALEF-LABEL: func.func @scaled
// SCALEF:       func.func private @xrelay_exp_v8f64
// SCALEF:       [[MASK:%.*]] = llvm.bitcast {{.*}} : vector<8xi1> to i8
// SCALEF:       llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.pd.512"({{.*}}, [[MASK]], {{.*}}) : (vector<8xf64>, vector<8xf64>, vector<8xf64>, i8, i32) -> vector<8xf64>
// SCALEF:       func.func private @xrelay_exp_v8f32
// SCALEF:       llvm.call_intrinsic "llvm.ldexp.v8f32.v8i32"
func.func @scaled(%x: vector<8xf64>, %y: vector<8xf32>) -> (vector<8xf64>, vector<8xf32>) {
  %0 = math.exp %x : vector<8xf64>
  %1 = math.exp %y : vector<8xf32>
  func.return %0, %1 : vector<8xf64>, vector<8xf32>
}

// -----

// The power of 2 of a fraction, scaled by the power of 2 of the floor.
// CHECK-LABEL: func.func @powers_of_two
// CHECK:       func.func private @xrelay_exp2_v16f32
// CHECK:       arith.cmpf olt
// CHECK:       arith.shrsi
// CHECK-NOT:   math.exp2
// SCALEF-LABEL: func.func @powers_of_two
// SCALEF:       func.func private @xrelay_exp2_v16f32([[X:%.*]]: vector<16xf32>)
// SCALEF:       llvm.call_intrinsic "llvm.x86.avx512.mask.reduce.ps.512"([[X]],
// SCALEF-NOT:   arith.cmpf
// SCALEF:       llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"({{.*}}, [[X]],
func.func @powers_of_two(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp2 %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}

// -----

// Powers with a small constant exponent become products. Other powers stay on f64, and are computed in f64 on f32.
// CHECK-LABEL: func.func @powers
// CHECK-DAG:   [[SQUARE:%.*]] = arith.mulf %x, %x fastmath<contract> : vector<16xf32>
// CHECK-DAG:   [[CUBE:%.*]] = arith.mulf [[SQUARE]], %x fastmath<contract> : vector<16xf32>
// CHECK-DAG:   [[TWO:%.*]] = arith.mulf %y, %y fastmath<contract> : f64
// CHECK-DAG:   [[FOUR:%.*]] = arith.mulf [[TWO]], [[TWO]] fastmath<contract> : f64
// CHECK:       [[HALF:%.*]] = math.powf [[FOUR]], {{.*}} : f64
// CHECK-NEXT:  [[ANY:%.*]] = math.powf [[HALF]], %y : f64
// CHECK:       [[POWER:%.*]] = func.call @xrelay_powf_v16f32([[CUBE]], %z)
// CHECK:       func.return [[POWER]], [[ANY]]
// CHECK:       func.func private @xrelay_powf_v16f32(
// CHECK:       arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK:       arith.truncf {{.*}} : vector<16xf64> to vector<16xf32>
func.func @powers(%x: vector<16xf32>, %y: f64, %z: vector<16xf32>) -> (vector<16xf32>, f64) {
  %three = arith.constant dense<3.0> : vector<16xf32>
  %four = arith.constant 4.0 : f64
  %half = arith.constant 0.7 : f64
  %0 = math.powf %x, %three : vector<16xf32>
  %1 = math.powf %y, %four : f64
  %2 = math.powf %1, %half : f64
  %3 = math.powf %2, %y : f64
  %4 = math.powf %0, %z : vector<16xf32>
  func.return %4, %3 : vector<16xf32>, f64
}

// -----

// A root of -inf is not the power: it is selected. A negative exponent becomes a quotient.
// CHECK-LABEL: func.func @roots
// CHECK:       [[ROOT:%.*]] = math.sqrt %x : f32
// CHECK-NEXT:  [[SIZE:%.*]] = math.absf [[ROOT]] : f32
// CHECK:       [[POWER:%.*]] = arith.select {{.*}}, {{.*}}, [[SIZE]] : f32
// CHECK:       arith.divf {{.*}}, [[POWER]]
func.func @roots(%x: f32) -> f32 {
  %half = arith.constant -0.5 : f32
  %0 = math.powf %x, %half : f32
  func.return %0 : f32
}

// -----

// A rounded quotient by a constant is exact by two products.
// CHECK-LABEL: func.func @rounded_quotients
// CHECK:         arith.divf
// CHECK:         arith.divf
// FMA-LABEL:   func.func @rounded_quotients
// FMA:           [[LOW:%.*]] = arith.constant dense<1.85436676e-07> : vector<16xf32>
// FMA-NEXT:      [[REST:%.*]] = arith.mulf %x, [[LOW]] fastmath<contract> : vector<16xf32>
// FMA-NEXT:      [[HIGH:%.*]] = arith.constant dense<3.33333302> : vector<16xf32>
// FMA-NEXT:      [[Q:%.*]] = math.fma %x, [[HIGH]], [[REST]] : vector<16xf32>
// FMA-NEXT:      math.roundeven [[Q]]
// The rest is limited if its sign is not that of the quotient.
// FMA:           [[REST:%.*]] = arith.mulf %y, {{.*}} : f32
// FMA:           arith.cmpf ogt
// FMA:           arith.select
// FMA:           arith.cmpf olt
// FMA:           [[REST:%.*]] = arith.select
// FMA:           math.fma %y, {{.*}}, [[REST]] : f32
// FMA-NOT:       arith.divf
func.func @rounded_quotients(%x: vector<16xf32>, %y: f32) -> (vector<16xf32>, f32) {
  %c = arith.constant dense<0.3> : vector<16xf32>
  %q = arith.divf %x, %c : vector<16xf32>
  %r = math.roundeven %q : vector<16xf32>
  %d = arith.constant 0.05 : f32
  %p = arith.divf %y, %d : f32
  %s = math.roundeven %p : f32
  func.return %r, %s : vector<16xf32>, f32
}

// -----

// Quotients that are used without rounding, of doubles, and by powers of two and unknown numbers stay.
// FMA-LABEL:   func.func @other_quotients
// FMA-COUNT-5:   arith.divf
// FMA-NOT:       math.fma
func.func @other_quotients(%x: f32, %y: f64, %z: f32) -> (f32, f32, f64, f32, f32, f32) {
  %c = arith.constant 0.3 : f32
  %q0 = arith.divf %x, %c : f32
  %r0 = math.roundeven %q0 : f32
  %d = arith.constant 0.3 : f64
  %q1 = arith.divf %y, %d : f64
  %r1 = math.roundeven %q1 : f64
  %e = arith.constant 0.25 : f32
  %q2 = arith.divf %x, %e : f32
  %r2 = math.roundeven %q2 : f32
  %q3 = arith.divf %x, %z : f32
  %r3 = math.roundeven %q3 : f32
  %zero = arith.constant 0.0 : f32
  %q4 = arith.divf %x, %zero : f32
  %r4 = math.roundeven %q4 : f32
  func.return %q0, %r0, %r1, %r2, %r3, %r4 : f32, f32, f64, f32, f32, f32
}
