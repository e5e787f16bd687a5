// RUN: xrelay-opt %s -p relay-fast-math | filecheck %s

// CHECK-LABEL: @fires(
// CHECK-NEXT:    %[[E:.*]] = relay.fast_exp(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %[[F:.*]] = relay.fast_erf(%[[E]])
// CHECK-NEXT:    %[[T:.*]] = relay.fast_tanh(%[[F]])
// CHECK-NEXT:    %[[S:.*]] = relay.nn.fast_softmax(%[[T]]) {axis = 0} : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %[[S]]
func.func @fires(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = relay.exp(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f = relay.erf(%e) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %t = relay.tanh(%f) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = relay.nn.softmax(%t) {axis = 0} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %s : tensor<3x4xf32>
}

// CHECK-LABEL: @open(
// CHECK-NEXT:    relay.fast_tanh(%x) : (!relay.incomplete) -> !relay.incomplete
func.func @open(%x: !relay.incomplete) -> !relay.incomplete {
  %t = relay.tanh(%x) : (!relay.incomplete) -> !relay.incomplete
  func.return %t : !relay.incomplete
}

// CHECK-LABEL: @others(
// CHECK-NEXT:    relay.sigmoid(%x)
// CHECK-NEXT:    relay.nn.log_softmax(
// CHECK-NEXT:    relay.fast_exp(
// CHECK-NEXT:    func.return
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = relay.sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %l = relay.nn.log_softmax(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.fast_exp(%l) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
