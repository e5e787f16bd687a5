// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p topi-expand-named | filecheck %s --check-prefix EXPANDED

// The first axis of the sum enumerates the pairs of parts (0, 1), (0, 0) and (1, 0). The last block is partial.
// CHECK-LABEL: func.func @dense
// CHECK: topi.matmul_split(%x, %w) : (tensor<2x3x4x6xbf16>, tensor<2x2x3x16x2xbf16>) -> tensor<3x4x30xf32>
// EXPANDED-LABEL: func.func @dense
// EXPANDED: topi.compute "matmul" [%i0 : 3, %i1 : 4, %j : 30] reduce [%p : 3, %k : 3, %t : 2]
// EXPANDED-NEXT: topi.read %x[%p floordiv 2, %i0, %i1, %k * 2 + %t]
// EXPANDED-NEXT: topi.read %w[%p * -1 floordiv 2 + 1, %j floordiv 16, %k, %j mod 16, %t]
// EXPANDED-NEXT: arith.extf
// EXPANDED-NEXT: arith.extf
// EXPANDED-NEXT: arith.mulf
func.func @dense(%x: tensor<2x3x4x6xbf16>, %w: tensor<2x2x3x16x2xbf16>) -> tensor<3x4x30xf32> {
  %r = topi.matmul_split(%x, %w) : (tensor<2x3x4x6xbf16>, tensor<2x2x3x16x2xbf16>) -> tensor<3x4x30xf32>
  func.return %r : tensor<3x4x30xf32>
}

// CHECK-LABEL: func.func @any_rows
// CHECK: topi.matmul_split(%x, %w) : (tensor<2x?x8xbf16, #relay.dims<n>>, tensor<2x1x4x16x2xbf16>) -> tensor<?x16xf32, #relay.dims<n>>
func.func @any_rows(%x: tensor<2x?x8xbf16, #relay.dims<n>>, %w: tensor<2x1x4x16x2xbf16>) -> tensor<?x16xf32, #relay.dims<n>> {
  %r = topi.matmul_split(%x, %w) : (tensor<2x?x8xbf16, #relay.dims<n>>, tensor<2x1x4x16x2xbf16>) -> tensor<?x16xf32, #relay.dims<n>>
  func.return %r : tensor<?x16xf32, #relay.dims<n>>
}

// The parts of the image have zeros around it, and in the channels 16 to 31.
// CHECK-LABEL: func.func @conv
// CHECK: topi.conv2d_nchwc_split(%x, %w) {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x1x9x9x16xf32>, tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x5x5x16xf32>
// EXPANDED-LABEL: func.func @conv
// EXPANDED: topi.compute "split" [%p : 2, %n : 1, %c : 1, %y : 11, %x_1 : 11, %ci : 32]
// EXPANDED: arith.truncf
// EXPANDED: topi.compute "conv2d" [%n : 1, %co : 2, %h : 5, %w_1 : 5, %ci : 16] reduce [%p : 3, %ko : 1, %t : 2, %kq : 16, %y : 3, %x_1 : 3]
// EXPANDED-NEXT: topi.read %0[%p floordiv 2, %n, %ko, %h * 2 + %y, %w_1 * 2 + %x_1, %t + %kq * 2]
func.func @conv(%x: tensor<1x1x9x9x16xf32>, %w: tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x5x5x16xf32> {
  %r = topi.conv2d_nchwc_split(%x, %w) {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
       : (tensor<1x1x9x9x16xf32>, tensor<2x32x3x3x16x2xbf16>) -> tensor<1x2x5x5x16xf32>
  func.return %r : tensor<1x2x5x5x16xf32>
}

// The weight is a stack of matrices.
// CHECK-LABEL: func.func @stack
// CHECK: topi.matmul_split(%x, %w) : (tensor<2x3x4x6xbf16>, tensor<2x3x1x3x16x2xbf16>) -> tensor<3x4x16xf32>
// EXPANDED-LABEL: func.func @stack
// EXPANDED: topi.read %w[%p * -1 floordiv 2 + 1, %i0, 0, %k, %j, %t]
func.func @stack(%x: tensor<2x3x4x6xbf16>, %w: tensor<2x3x1x3x16x2xbf16>) -> tensor<3x4x16xf32> {
  %r = topi.matmul_split(%x, %w) : (tensor<2x3x4x6xbf16>, tensor<2x3x1x3x16x2xbf16>) -> tensor<3x4x16xf32>
  func.return %r : tensor<3x4x16xf32>
}
