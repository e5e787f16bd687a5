// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @room(%s: memref<1x5x9xf32>, %o: memref<1x2x9xi64>, %x: memref<1x2x9xf32>, %m: memref<i64>, %t: memref<f32>,
                %k: memref<1x2x9xi1>, %r: memref<1x2x5x9xf32>, %b: index) {
  // expected-error@below {{[loop.suppress C1] extents do not fit}}
  loop.suppress[%b, %b] %s, %o, %x, %m, %t, %t into %k scratch %r
    : memref<1x5x9xf32>, memref<1x2x9xi64>, memref<1x2x9xf32>, memref<i64>, memref<f32>, memref<f32>, memref<1x2x9xi1>,
      memref<1x2x5x9xf32>
  func.return
}

// -----

func.func @length(%s: memref<1x5x?xf32>, %o: memref<1x2x?xi64>, %x: memref<1x2x?xf32>, %m: memref<i64>, %t: memref<f32>,
                  %k: memref<1x2x?xi1>, %r: memref<1x2x5x?xf32>, %b: index) {
  // expected-error@below {{[loop.suppress C1]}}
  loop.suppress[%b, %b] %s, %o, %x, %m, %t, %t into %k scratch %r
    : memref<1x5x?xf32>, memref<1x2x?xi64>, memref<1x2x?xf32>, memref<i64>, memref<f32>, memref<f32>, memref<1x2x?xi1>,
      memref<1x2x5x?xf32>
  func.return
}

// -----

func.func @elements(%s: memref<1x5x9xf32>, %o: memref<1x2x9xi32>, %x: memref<1x2x9xf32>, %m: memref<i64>, %t: memref<f32>,
                    %k: memref<1x2x9xi1>, %r: memref<1x2x5x16xf32>, %b: index) {
  // expected-error@below {{[loop.suppress C2] element types are f32, i32, f32, i64, f32, f32, i1, f32, not T, i64, T, i64, T, T, i1, T}}
  loop.suppress[%b, %b] %s, %o, %x, %m, %t, %t into %k scratch %r
    : memref<1x5x9xf32>, memref<1x2x9xi32>, memref<1x2x9xf32>, memref<i64>, memref<f32>, memref<f32>, memref<1x2x9xi1>,
      memref<1x2x5x16xf32>
  func.return
}
