// A failing pass leaves a file that reproduces the failure.
// RUN: rm -rf %t && not xrelay-opt %s -p 'FoldConstant,FuseOps{max-depth=0}' --crash-reproducer %t/crash.mlir 2>&1 | filecheck %s --check-prefix FAIL
// RUN: filecheck %s --check-prefix FILE --input-file %t/crash.mlir
// RUN: not xrelay-opt --run-reproducer %t/crash.mlir 2>&1 | filecheck %s --check-prefix REPLAY
// RUN: xrelay-opt %s -p FoldConstant --crash-reproducer %t/none.mlir -o %t/out.mlir && not test -e %t/none.mlir

// FAIL: note: reproducer written to {{.*}}crash.mlir
// FAIL: error: relay-fuse-ops: max-depth is 0, it must be at least 1
// FILE: // xrelay-reproducer: xrelay-opt --run-reproducer crash.mlir
// FILE: // pipeline: relay-fuse-ops{max_depth=0}
// FILE: // opt-level: 2
// FILE: dense<4.000000e+00>
// REPLAY: error: relay-fuse-ops: max-depth is 0, it must be at least 1
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.add(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = relay.multiply(%x, %d) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return %a : tensor<4x8xf32>
}
