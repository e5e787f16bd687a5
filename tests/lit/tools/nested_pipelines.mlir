// Passes inside func.func(…) run on each function in turn, in a separate module.
// RUN: xrelay-opt %s -p 'builtin.module(relay-infer-type,func.func(cse,dce),cse)' --print-ir-after-all 2>&1 | filecheck %s --check-prefix ORDER
// RUN: xrelay-opt %s --pass-pipeline='func.func(FoldConstant,relay-fuse-ops{max-depth=1})' | filecheck %s --check-prefix FUSED
// RUN: xrelay-opt %s -p 'relay-infer-type,func.func(FuseOps)' --opt-level 1 --print-pipeline | filecheck %s --check-prefix PLAN
// RUN: not xrelay-opt %s -p 'cse,func.func(cse,relay-infer-type)' 2>&1 | filecheck %s --check-prefix MODULE
// RUN: not xrelay-opt %s -p 'fun.func(cse)' 2>&1 | filecheck %s --check-prefix ANCHOR
// RUN: not xrelay-opt %s -p 'func.func(builtin.module(cse))' 2>&1 | filecheck %s --check-prefix INSIDE
// RUN: not xrelay-opt %s -p 'func.func(func.func(cse))' 2>&1 | filecheck %s --check-prefix TWICE
// RUN: not xrelay-opt %s -p 'builtin.module(func.func(cse)' 2>&1 | filecheck %s --check-prefix OPEN
// RUN: not xrelay-opt %s -p 'func.func(cse))' 2>&1 | filecheck %s --check-prefix CLOSED

func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// ORDER: IR after relay-infer-type
// ORDER: func.func private @outside
// ORDER: IR after cse
// ORDER-NEXT: builtin.module {
// ORDER-NEXT: func.func @first
// ORDER-NOT: func.func @second
// ORDER: IR after dce
// ORDER-NEXT: builtin.module {
// ORDER-NEXT: func.func @first
// ORDER: IR after cse
// ORDER-NEXT: builtin.module {
// ORDER-NEXT: func.func private @first(tensor<4xf32>) -> tensor<4xf32>
// ORDER-NEXT: func.func @second
// ORDER: IR after dce
// ORDER: IR after cse
// ORDER-NEXT: builtin.module {
// ORDER-NEXT: func.func private @outside
// ORDER-NEXT: func.func @first
// ORDER-NEXT: %a = relay.exp
// ORDER-NEXT: relay.add(%a, %a)

// FUSED: func.func private @outside
// FUSED: func.func @first
// FUSED: relay.fused
// FUSED: func.func @second

// PLAN: pipeline at opt_level 1:
// PLAN-NEXT: run   0  relay-infer-type
// PLAN-NEXT: run   0  func.func(relay-fuse-ops{fuse_opt_level=1})

// MODULE: error: [relay-infer-type] the pass runs on a module, not in func.func(…); help: put relay-infer-type outside
// ANCHOR: error: no anchor of passes is called 'fun.func'; help: did you mean 'func.func'?
// INSIDE: error: malformed pass pipeline 'func.func(builtin.module(cse))': builtin.module(…) may only enclose the whole pipeline
// TWICE: error: malformed pass pipeline 'func.func(func.func(cse))': a function contains no functions
// OPEN: error: malformed pass pipeline 'builtin.module(func.func(cse)': it lacks a ')'
// CLOSED: error: malformed pass pipeline 'func.func(cse))': it has a ')' too many
