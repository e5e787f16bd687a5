// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @rank(%s: tensor<1x5x9xf32>, %o: tensor<2x9xi64>, %x: tensor<2x9xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@below {{[topi.suppress C1] the order tensor<2x9xi64> is of rank 2, not 3}}
  %k = topi.suppress(%s, %o, %x, %m, %t, %t)
    : (tensor<1x5x9xf32>, tensor<2x9xi64>, tensor<2x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<2x9xi1>
  func.return
}

// -----

func.func @sides(%s: tensor<1x4x9xf32>, %o: tensor<1x2x9xi64>, %x: tensor<1x2x9xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@below {{[topi.suppress C1] extents do not fit: tensor<1x4x9xf32>, tensor<1x2x9xi64>}}
  %k = topi.suppress(%s, %o, %x, %m, %t, %t)
    : (tensor<1x4x9xf32>, tensor<1x2x9xi64>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1x2x9xi1>
  func.return
}

// -----

func.func @elements(%s: tensor<1x5x9xf32>, %o: tensor<1x2x9xi64>, %x: tensor<1x2x9xf64>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@below {{[topi.suppress C2] element types are f32, i64, f64, i64, f32, f32, i1, not T, i64, T, i64, T, T, i1}}
  %k = topi.suppress(%s, %o, %x, %m, %t, %t)
    : (tensor<1x5x9xf32>, tensor<1x2x9xi64>, tensor<1x2x9xf64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1x2x9xi1>
  func.return
}
