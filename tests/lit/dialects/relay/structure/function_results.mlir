// A function whose single result is a function prints and parses in both forms.
// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | xrelay-opt | filecheck %s

!t = tensor<4xf32>

// CHECK: func.func @known(%f: (tensor<4xf32>) -> tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
func.func @known(%f: (!t) -> !t) -> ((!t) -> !t) {
  func.return %f : (!t) -> !t
}
// CHECK: func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
func.func @plain(%x: !t) -> !t {
  func.return %x : !t
}
