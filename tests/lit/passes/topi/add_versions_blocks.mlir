// RUN: xrelay-opt %s -p topi-expand-named,topi-add-versions | filecheck %s

// A product of bytes and packed numbers has a version for 1 row, which still unpacks the weight in a compute of its own.
// CHECK:      func.func private @dense_n1(
// CHECK-SAME: loop.version = {of = @dense, sizes = {n = 1 : i64}, reason = "no typical size is given: a product of 1 row"}
// CHECK-NEXT: topi.compute "unpack"
func.func private @dense(%x: tensor<?x64xi8, #relay.dims<n>>, %s: tensor<?x2xf32, #relay.dims<n>>, %t: tensor<?x2xf32, #relay.dims<n>>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) -> tensor<?x32xf32, #relay.dims<n>> attributes {relay.primitive} {
  %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<?x64xi8, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<?x32xf32, #relay.dims<n>>
  func.return %r : tensor<?x32xf32, #relay.dims<n>>
}
func.func @main(%x: tensor<?x64xi8, #relay.dims<n>>, %s: tensor<?x2xf32, #relay.dims<n>>, %t: tensor<?x2xf32, #relay.dims<n>>, %w: tensor<2x8x64xui8>, %u: tensor<2x2x16xf32>, %z: tensor<ui8>) -> tensor<?x32xf32, #relay.dims<n>> {
  %r = func.call @dense(%x, %s, %t, %w, %u, %z) : (tensor<?x64xi8, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<?x32xf32, #relay.dims<n>>
  func.return %r : tensor<?x32xf32, #relay.dims<n>>
}
