// RUN: not xrelay-opt %s -p 'mlir-opt{executable=absent}' --print-ir-after-failure 2>&1 | filecheck %s

// CHECK: // -----// IR after failure of mlir-opt
// CHECK: "func.func"
// CHECK: error: [mlir-opt]
func.func private @f()
