// The results before and after each pass, compared on random inputs, at every level that has an interpreter.
// RUN: xrelay-opt %s -p stage-typed,stage-lifted,stage-optimized,stage-fused,stage-topi,stage-loop,stage-scheduled,convert-loop-to-scf --check-numerics -o %t 2>&1 | filecheck %s --check-prefix KEPT
// RUN: env PYTHONPATH=%S/Inputs/broken_passes sh %S/Inputs/exit_code.sh 1 xrelay-opt %s -p cse,broken-values,dce --check-numerics --numerics-seed 3 2>&1 | filecheck %s --check-prefix WRONG
// RUN: xrelay-opt --help-pass relay-alter-op-layout | filecheck %s --check-prefix ROUNDS
// RUN: xrelay-opt --help-pass FuseOps | filecheck %s --check-prefix EXACT

// KEPT: numerics: results {{.*}} by relay-infer-type, {{.*}}convert-relay-to-topi, {{.*}}convert-topi-to-loop, {{.*}}loop-lower-blocks
// KEPT-NEXT: numerics: convert-loop-to-scf not checked: a module below the loop level (memref, scf, vector) has no interpreter
// WRONG: numerics: results {{.*}} by cse
// WRONG: error: [broken-values] changes result #0 of @main from {{.*}} at [{{.*}}], tolerance 1e-05 of the largest value {{.*}}; help: the inputs were random from seed 3: float32[4, 8]
// ROUNDS: Results: re-associating: sums over channels are taken block by block
// EXACT: Results: exact: results keep every bit
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.add(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %a = relay.multiply(%x, %d) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return %a : tensor<4x8xf32>
}
