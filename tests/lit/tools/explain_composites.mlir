// RUN: xrelay explain fusion %s --as-is | filecheck %s --check-prefix=LIST
// RUN: xrelay explain fusion %s --as-is --op nn.log_softmax | filecheck %s --check-prefix=STORY
// RUN: xrelay explain fusion %s --as-is --op nn.log_softmax --json | filecheck %s --check-prefix=JSON

// LIST: @main: 2 ops in 2 kernels
// LIST-DAG: nn.log_softmax {{.*}}= max, subtract, exp, sum, log, subtract
// LIST-DAG: nn.mish {{.*}}= minimum, exp, add, multiply, add, divide, multiply

// STORY: nn.log_softmax
// STORY-NEXT: pattern: kOutEWiseFusable
// STORY-NEXT: composite of: max, subtract, exp, sum, log, subtract; expanded
// STORY-NEXT: kernel: {{.*}}, alone

// JSON: "composite": {
// JSON-NEXT: "parts": [
// JSON-NEXT: "max",
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = relay.nn.mish(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = relay.nn.log_softmax(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}
