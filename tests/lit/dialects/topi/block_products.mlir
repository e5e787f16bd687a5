// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p topi-expand-named | filecheck %s --check-prefix EXPANDED

// Two numbers of 4 bits in a byte, and blocks of 32. The last block of units is partial.
// CHECK-LABEL: func.func @dense
// CHECK: topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf16>, tensor<2x2x16xui8>) -> tensor<3x30xf32>
// EXPANDED-LABEL: func.func @dense
// EXPANDED: topi.compute "unpack" [%u_1 : 2, %g : 8, %h : 2, %l : 64]
// EXPANDED: arith.shrui
// EXPANDED: topi.compute "sums" [%i : 3, %b : 2, %j : 30] reduce [%g : 4, %h : 2, %t_1 : 4]
// EXPANDED-NEXT: topi.read %x[%i, %b * 32 + %g * 8 + %h * 4 + %t_1]
// EXPANDED-NEXT: topi.read %{{.*}}[%j floordiv 16, %b * 4 + %g, %h, %t_1 + %j mod 16 * 4]
// EXPANDED: topi.compute "scale" [%i : 3, %j : 30] reduce [%b : 2]
func.func @dense(%x: tensor<3x64xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf16>, %z: tensor<2x2x16xui8>) -> tensor<3x30xf32> {
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<3x64xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf16>, tensor<2x2x16xui8>) -> tensor<3x30xf32>
  func.return %r : tensor<3x30xf32>
}

// Numbers of 8 bits are bytes already; the number of rows is dynamic.
// CHECK-LABEL: func.func @bytes
// CHECK: topi.matmul_blocks
// EXPANDED-LABEL: func.func @bytes
// EXPANDED-NOT: "unpack"
// EXPANDED: topi.compute "sums" [%i : n, %b : 2, %j : 16] reduce [%g : 4, %h : 1, %t_1 : 4]
func.func @bytes(%x: tensor<?x32xi8, #relay.dims<n>>, %s: tensor<?x2xf32, #relay.dims<n>>, %t: tensor<?x2xf32, #relay.dims<n>>, %w: tensor<1x8x64xui8>, %u: tensor<1x2x16xf32>, %z: tensor<ui8>) -> tensor<?x16xf32, #relay.dims<n>> {
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<?x32xi8, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<1x8x64xui8>, tensor<1x2x16xf32>, tensor<ui8>) -> tensor<?x16xf32, #relay.dims<n>>
  func.return %r : tensor<?x16xf32, #relay.dims<n>>
}
