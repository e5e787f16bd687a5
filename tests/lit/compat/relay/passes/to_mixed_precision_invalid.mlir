// RUN: not xrelay-opt %s -p 'relay-to-mixed-precision{mixed-precision-type=int8}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not xrelay-opt %s -p 'relay-to-mixed-precision{missing-op-mode=3}' 2>&1 | filecheck %s --check-prefix=MODE
// RUN: xrelay-opt %s --remarks -p relay-to-mixed-precision 2>&1 | filecheck %s --check-prefix=REFUSES

// TYPE: mixed-precision-type 'int8' is not a float type
// MODE: missing-op-mode must be 0, 1 or 2, found 3

// An op that does not support the mixed type is unchanged.
// REFUSES: relay-to-mixed-precision: relay.one_hot: it stays in f32: [relay.one_hot C3]
// REFUSES: relay.one_hot(%i, %x, %x) {depth = 4, dtype = f32} : (tensor<3xi64>, tensor<f32>, tensor<f32>)
func.func @refuses(%i: tensor<3xi64>, %x: tensor<f32>) -> tensor<3x4xf32> {
  %y = relay.one_hot(%i, %x, %x) {depth = 4, dtype = f32} : (tensor<3xi64>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
