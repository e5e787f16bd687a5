// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%X: memref<4x8xf32>, %I: memref<4x8xi64>, %a: memref<4x16xi32>, %b: memref<4x16xi64>) {
  // expected-error@below {{[loop.sort C1] axis 1 and 0 row indices for a buffer of rank 2}}
  loop.sort %X[] into %X, %I scratch %a, %b {axis = 1 : i64}
    : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xi64>, memref<4x16xi32>, memref<4x16xi64>
  func.return
}

// -----

func.func @longer(%X: memref<8xf32>, %V: memref<9xf32>, %I: memref<9xi64>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // expected-error@below {{[loop.sort C2] a result of shape [9] for a source of shape [8]}}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<8xf32>, memref<9xf32>, memref<9xi64>, memref<16xi32>, memref<16xi64>
  func.return
}

// -----

func.func @counts(%X: memref<8xf32>, %V: memref<3xf32>, %I: memref<4xi64>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // expected-error@below {{[loop.sort C2] values of shape [3] and indices of shape [4]}}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<8xf32>, memref<3xf32>, memref<4xi64>, memref<16xi32>, memref<16xi64>
  func.return
}

// -----

func.func @scratch(%X: memref<2x8xf32>, %V: memref<2x8xf32>, %I: memref<2x8xi64>, %a: memref<2x8xi32>, %b: memref<2x16xi64>, %i: index) {
  // expected-error@below {{[loop.sort C2] scratch buffers of shape [[2, 8], [2, 16]], not [2, 16]}}
  loop.sort %X[%i] into %V, %I scratch %a, %b {axis = 1 : i64}
    : memref<2x8xf32>, memref<2x8xf32>, memref<2x8xi64>, memref<2x8xi32>, memref<2x16xi64>
  func.return
}

// -----

func.func @elements(%X: memref<8xf32>, %V: memref<8xf32>, %I: memref<8xi32>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // expected-error@below {{[loop.sort C3] element types are f32, f32, i32, i32, i64, not T, T, i64, integers of T, i64}}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<8xf32>, memref<8xf32>, memref<8xi32>, memref<16xi32>, memref<16xi64>
  func.return
}

// -----

func.func @keys(%X: memref<8xf64>, %V: memref<8xf64>, %I: memref<8xi64>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // expected-error@below {{[loop.sort C3] element types are f64, f64, i64, i32, i64, not T, T, i64, integers of T, i64}}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<8xf64>, memref<8xf64>, memref<8xi64>, memref<16xi32>, memref<16xi64>
  func.return
}

// -----

func.func @selected(%X: memref<900xf32>, %V: memref<4xf32>, %I: memref<4xi64>, %a: memref<1800xi32>, %b: memref<1800xi64>) {
  // expected-error@below {{[loop.sort C2] scratch buffers of shape [[1800], [1800]], not [8]}}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64, selects}
    : memref<900xf32>, memref<4xf32>, memref<4xi64>, memref<1800xi32>, memref<1800xi64>
  func.return
}

// -----

// A block lists the buffers that its sort reads and writes.
func.func @unlisted(%X: memref<8xf32>, %V: memref<8xf32>, %I: memref<8xi64>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // expected-error@below {{[loop.block C5]}}
  loop.block "sort" () reads(%X) writes(%V, %I) {
    loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
      : memref<8xf32>, memref<8xf32>, memref<8xi64>, memref<16xi32>, memref<16xi64>
  }
  func.return
}

// -----

func.func @unread(%X: memref<8xf32>, %V: memref<8xf32>, %I: memref<8xi64>, %a: memref<16xi32>, %b: memref<16xi64>) {
  // expected-error@below {{[loop.block C6] block 'sort' loads from a buffer that reads() does not list}}
  loop.block "sort" () writes(%V, %I, %a, %b) {
    loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
      : memref<8xf32>, memref<8xf32>, memref<8xi64>, memref<16xi32>, memref<16xi64>
  }
  func.return
}

// -----

func.func @reduced(%X: memref<4x8xf32>, %V: memref<4x8xf32>, %I: memref<4x8xi64>, %a: memref<4x16xi32>, %b: memref<4x16xi64>) {
  loop.for "k" %k to 4 {
    // expected-error@below {{[loop.block C8] a store of block 'sort' depends on a reduce variable}}
    loop.block "sort" (%v : reduce 4 = %k) reads(%X) writes(%V, %I, %a, %b) {
      loop.sort %X[%v] into %V, %I scratch %a, %b {axis = 1 : i64}
        : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xi64>, memref<4x16xi32>, memref<4x16xi64>
    }
  }
  func.return
}
