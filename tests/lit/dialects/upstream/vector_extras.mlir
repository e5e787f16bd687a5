// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @sums
// CHECK: vector.shape_cast %v : vector<64xi8> to vector<16x4xi8>
// CHECK: vector.multi_reduction <add>, %m, %acc [1] : vector<16x4xi32> to vector<16xi32>
// CHECK: vector.multi_reduction <maxsi>, %m, %one [0, 1] : vector<16x4xi32> to i32
func.func @sums(%v: vector<64xi8>, %m: vector<16x4xi32>, %acc: vector<16xi32>, %one: i32) {
  %0 = vector.shape_cast %v : vector<64xi8> to vector<16x4xi8>
  %1 = vector.multi_reduction <add>, %m, %acc [1] : vector<16x4xi32> to vector<16xi32>
  %2 = vector.multi_reduction <maxsi>, %m, %one [0, 1] : vector<16x4xi32> to i32
  func.return
}
