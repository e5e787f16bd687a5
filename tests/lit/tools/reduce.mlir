// RUN: xrelay reduce %s -o %t.mlir -- xrelay-opt {} -p relay-infer-type 2>&1 | filecheck %s --check-prefix COUNT
// RUN: filecheck %s < %t.mlir
// RUN: sh %S/Inputs/exit_code.sh 1 xrelay reduce %s -o %t.mlir -- xrelay-opt {} 2>&1 | filecheck %s --check-prefix PASSES

// COUNT: wrote {{.*}}.mlir: 2 of 7 ops, in {{[0-9]+}} runs
// PASSES: error: the command does not fail on the model
// CHECK: builtin.module {
// CHECK-NEXT: func.func @main(%b: tensor<4xf32>, %y: tensor<5xf32>) -> !relay.incomplete {
// CHECK-NEXT: %c = relay.add(%b, %y)
// CHECK-NEXT: func.return %c

func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (!relay.incomplete, !relay.incomplete) {
  %a = relay.exp(%x) : (tensor<4xf32>) -> !relay.incomplete
  %b = relay.tanh(%x) : (tensor<4xf32>) -> !relay.incomplete
  %c = relay.add(%b, %y) : (!relay.incomplete, tensor<5xf32>) -> !relay.incomplete
  %d = relay.negative(%c) : (!relay.incomplete) -> !relay.incomplete
  func.return %d, %a : !relay.incomplete, !relay.incomplete
}
