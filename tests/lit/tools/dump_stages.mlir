// RUN: rm -rf %t && xrelay-opt %s -p canonicalize,cse --dump-stages %t -o %t.out
// RUN: ls %t | filecheck %s
// RUN: xrelay-opt %t/02_cse.mlir | filecheck %s --check-prefix LAST
// RUN: rm -rf %t && xrelay-opt %s -p cse --print-ir-tree-dir %t --split-input-file -o %t.out
// RUN: ls %t | filecheck %s --check-prefix PIECES

// CHECK: 00_input.mlir
// CHECK-NEXT: 01_canonicalize.mlir
// CHECK-NEXT: 02_cse.mlir
// LAST: func.func private @f
// PIECES: line1
func.func private @f()
