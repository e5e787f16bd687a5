// RUN: xrelay-opt %s -p canonicalize,cse | filecheck %s
// RUN: xrelay-opt %s -p canonicalize --passes cse | filecheck %s
// RUN: xrelay-opt %s --pass-pipeline 'builtin.module(canonicalize,cse)' | filecheck %s
// RUN: xrelay-opt - -p canonicalize,cse < %s | filecheck %s
// RUN: xrelay-opt -p cse -o %t < %s && filecheck %s --input-file %t
// RUN: xrelay-opt %s -p cse --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: xrelay-opt %s --print-op-generic --print-no-properties | filecheck %s --check-prefix ATTRIBUTES
// RUN: xrelay-opt %s --print-debuginfo | filecheck %s --check-prefix LOC
// RUN: xrelay-opt %s --syntax-highlight | filecheck %s --check-prefix COLOUR
// RUN: xrelay-opt %s -p cse --timing -o %t 2>&1 | filecheck %s --check-prefix TIMING
// RUN: xrelay-opt --version | filecheck %s --check-prefix VERSION

// CHECK-LABEL: func.func @twice
// CHECK: arith.addi
// CHECK-NOT: arith.addi
// GENERIC: "func.func"() <{sym_name = "twice"
// ATTRIBUTES: "arith.addi"(%a, %b) {overflowFlags = #arith.overflow<none>}
// LOC: arith.addi %a, %b : i32 loc({{.*}}passes.mlir":28:3)
// COLOUR: arith.addi
// TIMING: seconds
// TIMING: parse
// TIMING: verify
// TIMING: cse
// TIMING: print
// TIMING: total
// VERSION: xrelay-opt {{[0-9]+\.[0-9]+}}
func.func @twice(%a: i32, %b: i32) -> (i32, i32) {
  %x = arith.addi %a, %b : i32
  %y = arith.addi %a, %b : i32
  func.return %x, %y : i32, i32
}
