// RUN: XRELAY_ROUNDTRIP | filecheck %s

// Infinities are printed as bits; a number may have a type.
// CHECK-LABEL: func.func @open_above
// CHECK: relay.clip(%x) {a_min = 0.0, a_max = 0x7ff0000000000000 : f64}
func.func @open_above(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = relay.clip(%x) {a_min = 0.0 : f64, a_max = 0x7FF0000000000000 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @open
// CHECK: relay.clip(%x) {a_min = 0xfff0000000000000 : f64, a_max = 1.0}
func.func @open(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = relay.clip(%x) {a_min = 0xfff0000000000000 : f64, a_max = 1.0}
      : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// Lists of numbers without types are dense; any others are array attributes.
// CHECK-LABEL: func.func @lists
// CHECK: relay.exp(%x) {a.words = [{is = "extent 0"}, "b"], a.typed = [1 : i32, 2.000000e+00 : f32], a.dense = [1, 2], a.bits = [0x7f800000 : f32], a.rows = {{\[\[}}1 : i64, 2 : i64], []]}
func.func @lists(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = relay.exp(%x) {a.words = [{is = "extent 0"}, "b"], a.typed = [1 : i32, 2.0 : f32], a.dense = [1, 2],
                      a.bits = [0x7f800000 : f32], a.rows = [[1, 2], []]} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
