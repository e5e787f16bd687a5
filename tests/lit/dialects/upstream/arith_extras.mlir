// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @vectors
func.func @vectors(%x: vector<8xf32>, %i: vector<8xi32>, %b: vector<8xi1>, %n: vector<8xindex>, %c: i1, %s: i8) {
  // CHECK: arith.cmpf olt, %x, %x : vector<8xf32>
  %0 = arith.cmpf olt, %x, %x : vector<8xf32>
  // CHECK: arith.cmpi slt, %i, %i : vector<8xi32>
  %1 = arith.cmpi slt, %i, %i : vector<8xi32>
  // CHECK: arith.select %b, %x, %x : vector<8xi1>, vector<8xf32>
  %2 = arith.select %b, %x, %x : vector<8xi1>, vector<8xf32>
  // CHECK: arith.select %c, %x, %x : vector<8xf32>
  %3 = arith.select %c, %x, %x : vector<8xf32>
  // CHECK: arith.fptosi %x : vector<8xf32> to vector<8xi32>
  %4 = arith.fptosi %x : vector<8xf32> to vector<8xi32>
  // CHECK: arith.fptoui %x : vector<8xf32> to vector<8xi32>
  %5 = arith.fptoui %x : vector<8xf32> to vector<8xi32>
  // CHECK: arith.sitofp %i : vector<8xi32> to vector<8xf32>
  %6 = arith.sitofp %i : vector<8xi32> to vector<8xf32>
  // CHECK: arith.uitofp %i : vector<8xi32> to vector<8xf32>
  %7 = arith.uitofp %i : vector<8xi32> to vector<8xf32>
  // CHECK: arith.trunci %i : vector<8xi32> to vector<8xi8>
  %8 = arith.trunci %i : vector<8xi32> to vector<8xi8>
  // CHECK: arith.extsi %i : vector<8xi32> to vector<8xi64>
  %9 = arith.extsi %i : vector<8xi32> to vector<8xi64>
  // CHECK: arith.extui %b : vector<8xi1> to vector<8xi32>
  %10 = arith.extui %b : vector<8xi1> to vector<8xi32>
  // CHECK: arith.index_cast %n : vector<8xindex> to vector<8xi32>
  %11 = arith.index_cast %n : vector<8xindex> to vector<8xi32>
  // CHECK: arith.index_castui %s : i8 to index
  %12 = arith.index_castui %s : i8 to index
  func.return
}

// Zeros keep their signs.
// CHECK-LABEL: @zeros
func.func @zeros() -> vector<2xf32> {
  // CHECK: arith.constant dense<"0x0000000000000080"> : vector<2xf32>
  %c = arith.constant dense<[0.0, -0.0]> : vector<2xf32>
  func.return %c : vector<2xf32>
}
