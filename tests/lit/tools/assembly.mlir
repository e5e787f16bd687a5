// The assembly of this machine, from the llvm dialect.
// RUN: xrelay-opt %s -p compile -t asm | filecheck %s
// RUN: not xrelay-opt %s -t asm 2>&1 | filecheck %s --check-prefix LEVEL

// CHECK: main:
// CHECK: .size main
// LEVEL: error: {{.*}}func.func
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
