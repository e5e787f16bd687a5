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
