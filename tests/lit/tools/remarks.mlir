// Remarks of the passes in --remarks are printed to stderr, and matched by expected-remark.
// RUN: xrelay-opt %s -p relay-fold-constant --remarks 2>&1 >%t.stdout | filecheck %s
// RUN: filecheck %s --check-prefix PRODUCT < %t.stdout
// RUN: xrelay-opt %s -p FoldConstant,cse --remarks=FoldConstant -o - 2>&1 >%t.stdout | filecheck %s
// RUN: xrelay-opt %s -p relay-fold-constant,cse --remarks=cse 2>&1 >%t.stdout | filecheck %s --check-prefix NONE --allow-empty
// RUN: xrelay-opt %s -p relay-fold-constant --verify-diagnostics
// RUN: xrelay-opt %s -p relay-fold-constant --verify-diagnostics --remarks
// RUN: not xrelay-opt %s -p cse --verify-diagnostics 2>&1 | filecheck %s --check-prefix MISSED
// RUN: not xrelay-opt %s -p cse --remarks=relay-fold-constant 2>&1 | filecheck %s --check-prefix UNKNOWN

// CHECK: remarks.mlir:22:8: remark: relay-fold-constant: relay.add: folded to tensor<2xf32>
// CHECK-NEXT: %s = relay.add(%c, %c)
// CHECK-NEXT: {{^ +\^$}}
// PRODUCT-NOT: remark
// PRODUCT: relay.constant
// NONE-NOT: remark
// MISSED: error: expected remark was not produced: folded to
// UNKNOWN: error: 'relay-fold-constant' is not in the pipeline
func.func @main() -> tensor<2xf32> {
  %c = relay.constant dense<1.0> : tensor<2xf32>
  // expected-remark@below {{folded to tensor<2xf32>}}
       %s = relay.add(%c, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %s : tensor<2xf32>
}
