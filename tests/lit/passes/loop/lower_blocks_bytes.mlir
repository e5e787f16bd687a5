// RUN: xrelay-opt %s -p stage-typed,stage-lifted,stage-optimized,stage-fused,stage-topi,stage-loop,stage-scheduled,stage-scf | filecheck %s

// Products of bytes are dot products in full tiles, in the small tiles of the last rows, and for one row.
// CHECK-COUNT-3: vector.multi_reduction <add>
func.func @main(%x: tensor<?x64xui8, #relay.dims<n>>) -> tensor<?x64xi32, #relay.dims<n>> {
  %w = relay.constant dense<1> : tensor<4x16x16x4xi8>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n4c", out_dtype = i32} : (tensor<?x64xui8, #relay.dims<n>>, tensor<4x16x16x4xi8>) -> tensor<?x64xi32, #relay.dims<n>>
  func.return %y : tensor<?x64xi32, #relay.dims<n>>
}
