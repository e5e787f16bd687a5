// RUN: xrelay-opt %s --print-debuginfo -p relay-annotate-spans | filecheck %s
// RUN: xrelay-opt %s -p relay-annotate-spans | filecheck %s --check-prefix=TEXT

// The module is line 1 of the printed text, at any line of this file.
// CHECK:      %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("GeneratedSource":3:5)
// CHECK-NEXT: %b = relay.tanh(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("conv1"("GeneratedSource":4:5))
// CHECK-NEXT: %c = relay.if %p : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:   relay.yield %a : tensor<4xf32> loc("GeneratedSource":6:7)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %d = relay.negative(%b) : (tensor<4xf32>) -> tensor<4xf32> loc(fused["a"(unknown), "b"(unknown), "GeneratedSource":8:7])
// CHECK-NEXT:   relay.yield %d : tensor<4xf32> loc("GeneratedSource":9:7)
// CHECK-NEXT: } loc("GeneratedSource":5:5)
// TEXT:       builtin.module {
// TEXT-NEXT:    func.func @main(
// TEXT-NEXT:      %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
// TEXT-NEXT:      %b = relay.tanh(%a) : (tensor<4xf32>) -> tensor<4xf32>
// TEXT-NEXT:      %c = relay.if

func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.tanh(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("conv1"("model.onnx":1:1))
  %c = relay.if %p : tensor<i1> -> tensor<4xf32> {
    relay.yield %a : tensor<4xf32>
  } else {
    %d = relay.negative(%b) : (tensor<4xf32>) -> tensor<4xf32> loc(fused["a", "b"])
    relay.yield %d : tensor<4xf32>
  }
  func.return %c : tensor<4xf32>
}
