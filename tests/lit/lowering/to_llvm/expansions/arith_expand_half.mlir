// RUN: xrelay-opt %s -p arith-expand-half --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p 'arith-expand-half{f16=true}' --split-input-file | filecheck %s --check-prefix WITHOUT

// Operations are computed in f32. Conversions of f16 are instructions, unless the CPU lacks them.
// CHECK-LABEL: func.func @f16
// CHECK-NEXT:    [[A:%.*]] = arith.extf %a : f16 to f32
// CHECK-NEXT:    [[B:%.*]] = arith.extf %b : f16 to f32
// CHECK-NEXT:    [[S:%.*]] = arith.addf [[A]], [[B]] fastmath<contract> : f32
// CHECK-NEXT:    [[R:%.*]] = arith.truncf [[S]] : f32 to f16
// CHECK-NEXT:    func.return [[R]] : f16
// CHECK-NOT:     func.func
// WITHOUT-LABEL: func.func @f16
// WITHOUT:         func.call @xrelay_extf_f16_f32(%a)
// WITHOUT:         func.call @xrelay_extf_f16_f32(%b)
// WITHOUT-NEXT:    arith.addf
// WITHOUT-NEXT:    func.call @xrelay_truncf_f32_f16
// WITHOUT:       func.func private @xrelay_extf_f16_f32({{.*}}: f16) -> f32 attributes {llvm.always_inline}
// WITHOUT-NOT:     extf
// WITHOUT:       func.func private @xrelay_truncf_f32_f16({{.*}}: f32) -> f16 attributes {llvm.always_inline}
// WITHOUT-NOT:     truncf
// WITHOUT:         func.return
func.func @f16(%a: f16, %b: f16) -> f16 {
  %0 = arith.addf %a, %b fastmath<contract> : f16
  func.return %0 : f16
}

// -----

// CHECK-LABEL: func.func @bf16
// CHECK-NEXT:    func.call @xrelay_extf_v8bf16_v8f32(%a)
// CHECK-NEXT:    math.sqrt {{.*}} : vector<8xf32>
// CHECK-NEXT:    func.call @xrelay_truncf_v8f32_v8bf16
// CHECK-NEXT:    func.return
// CHECK:       func.func private @xrelay_extf_v8bf16_v8f32
// CHECK:         arith.shli
// CHECK:       func.func private @xrelay_truncf_v8f32_v8bf16
// CHECK:         arith.cmpf uno
// CHECK:         arith.shrui
func.func @bf16(%a: vector<8xbf16>) -> vector<8xbf16> {
  %0 = math.sqrt %a : vector<8xbf16>
  func.return %0 : vector<8xbf16>
}

// -----

// An f64, and an integer that f32 cannot represent, are rounded once.
// CHECK-LABEL: func.func @once
// CHECK-NEXT:    func.call @xrelay_truncf_f64_f16(%a)
// CHECK-NEXT:    [[I:%.*]] = arith.sitofp %i : i32 to f64
// CHECK-NEXT:    func.call @xrelay_truncf_f64_bf16([[I]])
// CHECK:         arith.cmpi ugt
// CHECK:         arith.uitofp {{.*}} : i64 to f64
// CHECK:         arith.sitofp %h : i16 to f32
// CHECK-NEXT:    func.call @xrelay_truncf_f32_bf16
// CHECK:         arith.sitofp %j : i64 to f32
// CHECK-NEXT:    arith.truncf {{.*}} : f32 to f16
// CHECK:       func.func private @xrelay_truncf_f64_f16
// CHECK:         arith.truncf {{.*}} : f64 to f32
// CHECK:         arith.cmpf one
// CHECK:         arith.truncf {{.*}} : f32 to f16
func.func @once(%a: f64, %i: i32, %j: i64, %h: i16) -> (f16, bf16, bf16, bf16, f16) {
  %0 = arith.truncf %a : f64 to f16
  %1 = arith.sitofp %i : i32 to bf16
  %2 = arith.uitofp %j : i64 to bf16
  %3 = arith.sitofp %h : i16 to bf16
  %4 = arith.sitofp %j : i64 to f16
  func.return %0, %1, %2, %3, %4 : f16, bf16, bf16, bf16, f16
}

// -----

// Ops that do not depend on the value, or only on the sign, are not arithmetic.
// CHECK-LABEL: func.func @bits
// CHECK-NOT:     {{extf|truncf|func.call}}
// CHECK:         arith.xori
// CHECK:         arith.andi
// CHECK:         arith.select {{.*}} : f16
// CHECK:         func.return
func.func @bits(%a: f16, %c: i1) -> f16 {
  %0 = arith.negf %a : f16
  %1 = math.absf %a : f16
  %2 = arith.select %c, %0, %1 : f16
  %k = arith.constant 1.0 : f16
  %3 = math.copysign %2, %k : f16
  func.return %3 : f16
}

// -----

// CHECK-LABEL: func.func @other_results
// CHECK:         arith.cmpf olt, {{.*}} : f32
// CHECK:         arith.fptosi {{.*}} : f32 to i64
func.func @other_results(%a: f16) -> (i1, i64) {
  %0 = arith.cmpf olt, %a, %a : f16
  %1 = arith.fptosi %a : f16 to i64
  func.return %0, %1 : i1, i64
}
