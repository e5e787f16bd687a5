// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @shape_cast_c1(%v: vector<64xi8>) {
  // expected-error@+1 {{[vector.shape_cast C1]}}
  %0 = vector.shape_cast %v : vector<64xi8> to vector<8x4xi8>
  func.return
}

// -----

func.func @multi_reduction_c1(%m: vector<16x4xi32>, %acc: vector<4xi32>) {
  // expected-error@+1 {{[vector.multi_reduction C1] accumulator and result must be vector<16xi32>, found vector<4xi32>}}
  %0 = vector.multi_reduction <add>, %m, %acc [1] : vector<16x4xi32> to vector<4xi32>
  func.return
}

// -----

%a, %acc = "test.op"() : () -> (vector<16x4xi32>, vector<16xi32>)
// expected-error@+1 {{[vector.multi_reduction C2] [1, 2] are not distinct dimensions of vector<16x4xi32>}}
%0 = vector.multi_reduction <add>, %a, %acc [1, 2] : vector<16x4xi32> to vector<16xi32>
