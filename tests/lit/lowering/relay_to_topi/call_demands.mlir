// RUN: xrelay-opt %s -p convert-relay-to-topi | filecheck %s

// The requirements of a kernel's ops on named dimensions are at its calls; kernels check nothing.
// CHECK: func.call @k(%x) {xrelay.demands = [{op = "relay.nn.relu", requires = #relay.requirements<n >= 1 "C2 rows", n mod 4 == 0>}]}
// CHECK: func.call @plain(%y) :
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @plain(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK: func.func private @k
// CHECK-NOT: requires
func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %y = relay.nn.relu(%x) {relay.requires = #relay.requirements<n >= 1 "C2 rows", n mod 4 == 0>} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

func.func private @plain(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %y = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
