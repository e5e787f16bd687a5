// RUN: not xrelay-opt %s -p relay-fake-quantization-to-integer{hard-fail=true} 2>&1 | filecheck %s
// RUN: not xrelay-opt %s -p 'relay-fake-quantization-to-integer{optional-qnn-ops="nn.softmaks"}' 2>&1 | filecheck %s --check-prefix NAME

// CHECK: error: relay-fake-quantization-to-integer: relay.cumsum has no integer form, {{.*}} relay.qnn.quantize {{.*}}
// CHECK: hard_fail
// NAME: optional-qnn-ops names 'nn.softmaks', {{.*}}; help: did you mean 'nn.softmax'?
func.func @main(%x: tensor<4xi8>, %s: tensor<f32>, %z: tensor<i32>) -> tensor<4xi8> {
  %a = relay.qnn.dequantize(%x, %s, %z) : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %b = relay.cumsum(%a) {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.qnn.quantize(%b, %s, %z) : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}
