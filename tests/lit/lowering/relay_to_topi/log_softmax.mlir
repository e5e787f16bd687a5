// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// A logarithm of a softmax is one named op, of halves in f32.
// CHECK-LABEL: @rows
// CHECK-SAME:  log_softmax.softmax
// CHECK:       topi.softmax(%x) {axis = 1 : i64, log = true} : (tensor<4x10xf32>) -> tensor<4x10xf32>
func.func private @rows(%x: tensor<4x10xf32>) -> tensor<4x10xf32> attributes {relay.primitive} {
  %r = relay.nn.log_softmax(%x) : (tensor<4x10xf32>) -> tensor<4x10xf32>
  func.return %r : tensor<4x10xf32>
}

// CHECK-LABEL: @halves
// CHECK:       arith.extf
// CHECK:       topi.softmax({{.*}}) {axis = 0 : i64, log = true} : (tensor<4x10xf32>) -> tensor<4x10xf32>
// CHECK:       arith.truncf
func.func private @halves(%x: tensor<4x10xf16>) -> tensor<4x10xf16> attributes {relay.primitive} {
  %r = relay.nn.log_softmax(%x) {axis = 0 : i64} : (tensor<4x10xf16>) -> tensor<4x10xf16>
  func.return %r : tensor<4x10xf16>
}
