// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s
// RUN: xrelay-opt %s -p convert-loop-to-scf,convert-memref-to-llvm,convert-arith-to-llvm,convert-func-to-llvm | filecheck %s --check-prefixes CHECK,LLVM

// The module's interface attributes, including the signedness of integers, which buffers lack.
// CHECK: builtin.module attributes {
// CHECK-SAME: xrelay.inputs = [{name = "image", type = tensor<4xui8>}, {name = "input1", type = tensor<f32>}]
// CHECK-SAME: xrelay.outputs = [{name = "output0", type = tensor<4xui8>}, {name = "sum", type = tensor<2xf32>}]
// CHECK-SAME: xrelay.weights = [{name = "conv.w", type = tensor<2xf32>, value = #relay.weight<"conv.w", "k1">}, {name = "constant1", type = tensor<2xf32>, value = dense<1.000000e+00> : tensor<2xf32>}]
// CHECK-SAME: xrelay.arena_size = 128 : i64
// LLVM-SAME: xrelay.kernels = [{name = "k", sources = ["conv", "relu"]}, {name = "l"}]
func.func private @k(%x: memref<2xf32>, %y: memref<2xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64, xrelay.sources = ["conv", "relu"]} {
  func.return
}
func.func private @l(%x: memref<2xf32>, %y: memref<2xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func @main(%image: memref<4xui8>, %0: memref<f32>, %a: memref<4xui8>, %b: memref<2xf32> {relay.name = "sum"}, %arena: memref<128xi8> {loop.arena}) attributes {loop.num_outputs = 2 : i64} {
  %w = loop.weight #relay.weight<"conv.w", "k1"> : memref<2xf32>
  %v = loop.weight dense<1.0> : tensor<2xf32> : memref<2xf32>
  %u = loop.weight #relay.weight<"conv.w", "k1"> : memref<2xf32>
  func.call @k(%w, %b) : (memref<2xf32>, memref<2xf32>) -> ()
  func.call @l(%v, %b) : (memref<2xf32>, memref<2xf32>) -> ()
  func.call @l(%u, %b) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}
