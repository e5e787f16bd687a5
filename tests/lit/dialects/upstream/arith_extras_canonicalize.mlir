// RUN: xrelay-opt %s -p canonicalize | filecheck %s

// A comparison of a value with itself is a constant of the comparison's type.
// CHECK-LABEL: func.func @same
// CHECK-DAG:   [[F:%.*]] = arith.constant dense<false> : vector<4xi1>
// CHECK-DAG:   [[T:%.*]] = arith.constant true
// CHECK:       func.return [[F]], [[T]]
func.func @same(%v: vector<4xi32>, %i: i32) -> (vector<4xi1>, i1) {
  %0 = arith.cmpi slt, %v, %v : vector<4xi32>
  %1 = arith.cmpi uge, %i, %i : i32
  func.return %0, %1 : vector<4xi1>, i1
}

// Other comparisons and selections by vectors are unchanged.
// CHECK-LABEL: func.func @different
// CHECK:       arith.cmpf olt
// CHECK-NEXT:  arith.select
func.func @different(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %0 = arith.cmpf olt, %x, %y : vector<4xf32>
  %1 = arith.select %0, %x, %y : vector<4xi1>, vector<4xf32>
  func.return %1 : vector<4xf32>
}
