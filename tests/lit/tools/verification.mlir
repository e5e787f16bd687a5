// RUN: not xrelay-opt %s 2>&1 | filecheck %s --check-prefix VERIFIED
// RUN: xrelay-opt %s --disable-verify -p canonicalize | filecheck %s --check-prefix UNVERIFIED
// RUN: printf 'func.func private @f()' | xrelay-opt -p canonicalize,cse --no-verify-each --timing -o %t 2>&1 | filecheck %s --check-prefix ONCE
// RUN: xrelay-opt -v | filecheck %s --check-prefix VERSION

// VERIFIED: verification.mlir:15:3: error: [relay.nn.relu C0]
// UNVERIFIED: relay.nn.relu
// ONCE: verify
// ONCE-NEXT: passes
// ONCE-NOT: verify
// ONCE: canonicalize
// VERSION: xrelay-opt
func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  // The result has the operand's type.
  %y = relay.nn.relu(%x) : (tensor<2xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
