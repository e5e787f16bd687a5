// RUN: xrelay-opt %s -p arith-guard-division --split-input-file | filecheck %s

// One variable, one reduction, one assertion at the end; the divisor is replaced if it would trap.
// CHECK-LABEL: func.func @signed
// CHECK:         [[SEEN:%.*]] = memref.alloca() : memref<1xvector<8xi32>>
// CHECK:         memref.store {{.*}}, [[SEEN]]
// CHECK:         [[LEAST:%.*]] = memref.load [[SEEN]]
// CHECK-NEXT:    [[LESS:%.*]] = arith.minui [[LEAST]], %b : vector<8xi32>
// CHECK-NEXT:    memref.store [[LESS]], [[SEEN]]
// CHECK:         [[ZERO:%.*]] = arith.cmpi eq, %b, {{.*}} : vector<8xi32>
// CHECK:         arith.constant dense<-2147483648> : vector<8xi32>
// CHECK:         [[UNSAFE:%.*]] = arith.ori [[ZERO]]
// CHECK:         [[SAFE:%.*]] = arith.select [[UNSAFE]], {{.*}}, %b
// CHECK-NEXT:    arith.divsi %a, [[SAFE]] : vector<8xi32>
// CHECK:         arith.remsi
// CHECK-NOT:     memref.alloca
// CHECK:         vector.reduction <minui>
// CHECK-NOT:     vector.reduction
// CHECK:         cf.assert {{.*}}, "division by zero"
// CHECK-NEXT:    func.return
func.func @signed(%a: vector<8xi32>, %b: vector<8xi32>) {
  %0 = arith.divsi %a, %b : vector<8xi32>
  %1 = arith.remsi %a, %b : vector<8xi32>
  func.return
}

// -----

// Unsigned division does not overflow; a variable for each type, one assertion for all.
// CHECK-LABEL: func.func @unsigned
// CHECK-COUNT-2: memref.alloca
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     arith.ori
// CHECK-COUNT-1: cf.assert
// CHECK-NOT:     cf.assert
func.func @unsigned(%a: i8, %b: i8, %c: index) {
  %0 = arith.divui %a, %b : i8
  %1 = arith.ceildivui %c, %c : index
  func.return
}

// -----

// Constants other than 0 and -1 are safe.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    arith.constant 3
// CHECK-NEXT:    arith.constant dense<7>
// CHECK-NEXT:    arith.divsi
// CHECK-NEXT:    arith.floordivsi
// CHECK-NEXT:    func.return
func.func @constants(%a: i64, %b: vector<4xi16>) {
  %three = arith.constant 3 : i64
  %seven = arith.constant dense<7> : vector<4xi16>
  %0 = arith.divsi %a, %three : i64
  %1 = arith.floordivsi %b, %seven : vector<4xi16>
  func.return
}

// -----

// CHECK-LABEL: func.func @constants_that_may_trap
// CHECK:         arith.select
// CHECK-NEXT:    arith.divsi
// CHECK:         arith.select
// CHECK-NEXT:    arith.remui
// CHECK:         cf.assert
func.func @constants_that_may_trap(%a: i32) {
  %minus = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %0 = arith.divsi %a, %minus : i32
  %1 = arith.remui %a, %zero : i32
  func.return
}

// -----

// Divisions in loops and branches: the assertion is at the end of the function.
// CHECK-LABEL: func.func @nested
// CHECK:         memref.alloca
// CHECK:         scf.for
// CHECK-NOT:     cf.assert
// CHECK:         arith.divsi
// CHECK:         }
// CHECK:         cf.assert
// CHECK-NEXT:    func.return
func.func @nested(%x: memref<64xi32>, %d: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %x[%i] : memref<64xi32>
    %q = arith.divsi %v, %d : i32
    memref.store %q, %x[%i] : memref<64xi32>
  }
  func.return
}

// -----

// An index division that does not run if its divisor is 0.
// CHECK-LABEL: func.func @extents
// CHECK-NEXT:    arith.divui %i, %n {loop.positive_divisor} : index
// CHECK-NEXT:    func.return
func.func @extents(%i: index, %n: index) {
  %q = arith.divui %i, %n {loop.positive_divisor} : index
  func.return
}
