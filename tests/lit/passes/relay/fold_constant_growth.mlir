// RUN: xrelay-opt %s -p relay-fold-constant --remarks 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix SAYS < %t.err

// A shape that is known after a cast is folded determines how large the result would be.
// SAYS: relay.dyn.full: the result is 39999980 bytes larger than the operands, 1048576 are allowed
// CHECK-LABEL: @grows(
// CHECK:         relay.constant dense<[10000, 1000]>
// CHECK-NEXT:    relay.dyn.full
func.func @grows() -> tensor<f32> {
  %a = relay.constant dense<0.0> : tensor<f32>
  %b = relay.constant dense<[1.0e4, 1.0e3]> : tensor<2xf32>
  %c = relay.cast(%b) {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  %y = relay.dyn.full(%a, %c) {relay.binds = #relay.bounds<e, e_1>} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<e, e_1>>
  %z = relay.sum(%y) : (tensor<?x?xf32, #relay.dims<e, e_1>>) -> tensor<f32>
  func.return %z : tensor<f32>
}

// CHECK-LABEL: @fits(
// CHECK-NEXT:    relay.constant dense<-5.000000e-01> : tensor<2x3xf32>
func.func @fits() -> tensor<2x3xf32> {
  %a = relay.constant dense<0.5> : tensor<f32>
  %b = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = relay.cast(%b) {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  %y = relay.dyn.full(%a, %c) {relay.binds = #relay.bounds<e, e_1>} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<e, e_1>>
  %l = relay.negative(%y) : (tensor<?x?xf32, #relay.dims<e, e_1>>) -> tensor<?x?xf32, #relay.dims<e, e_1>>
  %r = relay.reshape(%l) {newshape = [2, 3], relay.requires = #relay.requirements<e * e_1 == 6 "C2 elements">} : (tensor<?x?xf32, #relay.dims<e, e_1>>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
