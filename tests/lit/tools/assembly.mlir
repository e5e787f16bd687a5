// The assembly of this machine, or of the CPU in the option, from the llvm dialect.
// RUN: xrelay-opt %s -p compile -t asm | filecheck %s
// RUN: xrelay-opt %s -p compile -t 'asm{cpu="cpu -mcpu=haswell"}' | filecheck %s --check-prefix HASWELL
// RUN: not xrelay-opt %s -p compile -t 'asm{cpu="cpu -mcpu=none"}' 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not xrelay-opt %s -t asm 2>&1 | filecheck %s --check-prefix LEVEL

// CHECK: main:
// CHECK: .size main
// HASWELL: xmm
// HASWELL-NOT: zmm
// UNKNOWN: error: unknown CPU 'none'
// LEVEL: error: {{.*}}func.func
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
