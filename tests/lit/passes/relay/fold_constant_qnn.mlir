// RUN: xrelay-opt %s -p 'relay-fold-constant{fold-qnn=true}' | filecheck %s
// RUN: xrelay-opt %s -p relay-fold-constant | filecheck %s --check-prefix=STAYS

// CHECK-LABEL: @quantised(
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[2, 4]> : tensor<2xi8>
// CHECK-NEXT:    func.return %[[C]]
// STAYS-LABEL: @quantised(
// STAYS:         %[[S:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// STAYS:         relay.qnn.quantize(%[[S]]
func.func @quantised() -> tensor<2xi8> {
  %a = relay.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %b = relay.add(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %q = relay.qnn.quantize(%b, %s, %z) {out_dtype = i8} : (tensor<2xf32>, tensor<f32>, tensor<i32>) -> tensor<2xi8>
  func.return %q : tensor<2xi8>
}
