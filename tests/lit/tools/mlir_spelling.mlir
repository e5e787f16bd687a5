// Flags as mlir-opt spells them: with one dash, and with the prefix mlir-.
// RUN: xrelay-opt -pass-pipeline='builtin.module(func.func(canonicalize,cse))' -split-input-file %s | filecheck %s
// RUN: xrelay-opt -passes=cse --mlir-print-ir-after-all -mlir-timing %s -o /dev/null 2>&1 | filecheck %s --check-prefix AFTER
// RUN: xrelay-opt -pcse %s | filecheck %s
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -pcs 2>&1 | filecheck %s --check-prefix SHORT

// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %a = relay.exp
// CHECK-NEXT: %y = relay.add(%a, %a)
// AFTER: IR after cse
// AFTER: cse
// SHORT: no pass is called 'cs'
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
