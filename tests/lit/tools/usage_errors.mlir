// Wrong command lines: one line on stderr and exit code 2.
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -p cs 2>&1 | filecheck %s --check-prefix MISSPELT
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -p qqqqqq 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -p 'cse{' 2>&1 | filecheck %s --check-prefix MALFORMED
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -p 'cse{depth=3}' 2>&1 | filecheck %s --check-prefix OPTION
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s --timng 2>&1 | filecheck %s --check-prefix FLAG
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s --canonicalize 2>&1 | filecheck %s --check-prefix PASS
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -relay-fuse-ops=depth=1 2>&1 | filecheck %s --check-prefix OWN
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -t nothing 2>&1 | filecheck %s --check-prefix TARGET
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s -t '{' 2>&1 | filecheck %s --check-prefix TARGET-FORM
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt %s --opt-level 4 2>&1 | filecheck %s --check-prefix LEVEL
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay-opt --help-pass cs 2>&1 | filecheck %s --check-prefix MISSPELT

// MISSPELT: error: no pass is called 'cs'; help: did you mean 'cse'?
// UNKNOWN: error: no pass is called 'qqqqqq'; help: xrelay-opt --list-passes
// MALFORMED: error: malformed pass pipeline 'cse{'
// OPTION: error: [cse] has no option 'depth'; help: cse takes no options
// FLAG: xrelay-opt: error: unrecognized arguments: --timng; help: did you mean '--timing'?
// PASS: unrecognized arguments: --canonicalize; help: passes are named by -p: -p canonicalize
// OWN: unrecognized arguments: {{.*}}; help: passes are named by -p: -p relay-fuse-ops
// TARGET: invalid choice: 'nothing' (choose from mlir, llvm-ir, asm, 
// LEVEL: error: argument --opt-level: invalid choice: 4 (choose from 0, 1, 2, 3)
// TARGET-FORM: '{' is not of the form name{option=value}
