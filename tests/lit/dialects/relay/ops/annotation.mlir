// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @stop_fusion(
func.func @stop_fusion(%x: tensor<2x3x4xf32>) {
  // CHECK: %r = relay.annotation.stop_fusion(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %r = relay.annotation.stop_fusion(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// CHECK-LABEL: @stop_fusion_of_a_tuple(
func.func @stop_fusion_of_a_tuple(%x: tuple<tensor<4xf32>, tensor<2xi32>>) {
  // CHECK: %r = relay.annotation.stop_fusion(%x) : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %r = relay.annotation.stop_fusion(%x) : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  func.return
}

// CHECK-LABEL: @checkpoint(
func.func @checkpoint(%x: tensor<4xf32>, %t: tuple<tensor<4xf32>, tensor<2xi32>>) {
  // CHECK: %r = relay.annotation.checkpoint(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.annotation.checkpoint(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %s = relay.annotation.checkpoint(%t) : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  %s = relay.annotation.checkpoint(%t) : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  func.return
}

// CHECK-LABEL: @regions(
func.func @regions(%x: tensor<2xf32>, %t: tuple<tensor<2xf32>, tensor<i32>>) {
  // CHECK: %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %e = relay.annotation.compiler_end(%b) {compiler = "ccompiler"} : (tensor<2xf32>) -> tensor<2xf32>
  %e = relay.annotation.compiler_end(%b) {compiler = "ccompiler"} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %f = relay.annotation.compiler_end(%t) {compiler = "dnnl"} : (tuple<tensor<2xf32>, tensor<i32>>) -> tuple<tensor<2xf32>, tensor<i32>>
  %f = relay.annotation.compiler_end(%t) {compiler = "dnnl"} : (tuple<tensor<2xf32>, tensor<i32>>) -> tuple<tensor<2xf32>, tensor<i32>>
  func.return
}
