// RUN: xrelay-opt %s -p canonicalize,cse --print-ir-before=cse -o %t 2>&1 | filecheck %s --check-prefix BEFORE
// RUN: xrelay-opt %s -p canonicalize,cse --print-ir-before-all -o %t 2>&1 | filecheck %s --check-prefix BEFORE-ANY
// RUN: xrelay-opt %s -p canonicalize,cse --print-ir-after=cse -o %t 2>&1 | filecheck %s --check-prefix AFTER
// RUN: xrelay-opt %s -p canonicalize,cse --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix ALL
// RUN: xrelay-opt %s -p canonicalize,cse --print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix CHANGE
// RUN: xrelay-opt %s -p canonicalize,cse --print-ir-diff -o %t 2>&1 | filecheck %s --check-prefix DIFF
// RUN: xrelay-opt %s -p cse --print-ir-after-all 2>%t.err | filecheck %s --check-prefix STDOUT
// RUN: not xrelay-opt %s -p cse --print-ir-after=dce 2>&1 | filecheck %s --check-prefix UNUSED

// BEFORE-NOT: before canonicalize
// BEFORE: // -----// IR before cse //----- //
// BEFORE-COUNT-2: arith.addi
// BEFORE-ANY: IR before canonicalize
// BEFORE-ANY: IR before cse
// AFTER-NOT: after canonicalize
// AFTER: // -----// IR after cse //----- //
// AFTER: arith.addi
// AFTER-NOT: arith.addi
// ALL: IR after canonicalize
// ALL: IR after cse
// CHANGE: IR unchanged by canonicalize
// CHANGE: IR after cse
// DIFF: IR unchanged by canonicalize
// DIFF: IR change by cse
// DIFF: -    %y = arith.addi %a, %b : i32
// STDOUT-NOT: IR after
// STDOUT: func.func @twice
// UNUSED: error: 'dce' is not in the pipeline; help: it runs cse
func.func @twice(%a: i32, %b: i32) -> (i32, i32) {
  %x = arith.addi %a, %b : i32
  %y = arith.addi %a, %b : i32
  func.return %x, %y : i32, i32
}
