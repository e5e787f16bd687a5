// RUN: xrelay explain schedule %s --target 'cpu -mcpu=znver4' | filecheck %s
// RUN: xrelay explain schedule %s --target 'cpu -mcpu=znver4' --kernel @fused_nn_batch_matmul | filecheck %s --check-prefix ONE
// RUN: xrelay explain schedule %s --target 'cpu -mcpu=znver4' --kernel fused_nn_softmax --json | filecheck %s --check-prefix JSON
// RUN: xrelay-opt %s -p stage-typed,stage-lifted,stage-optimized,stage-fused,stage-topi > %t.topi.mlir
// RUN: xrelay explain schedule %t.topi.mlir --target 'cpu -mcpu=znver4' | filecheck %s
// RUN: xrelay-opt %t.topi.mlir -p 'topi-expand-named,convert-topi-to-loop' > %t.loop.mlir
// RUN: xrelay explain schedule %t.loop.mlir --target 'cpu -mcpu=znver4' | filecheck %s
// RUN: xrelay-opt %t.loop.mlir -p loop-assign-schedules > %t.given.mlir
// RUN: xrelay explain schedule %t.given.mlir --kernel fused_nn_batch_matmul | filecheck %s --check-prefix GIVEN
// RUN: sh %S/Inputs/exit_code.sh 1 xrelay explain schedule %s --kernel softmax 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay explain schedule %s --op %y 2>&1 | filecheck %s --check-prefix OP
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay explain fusion %s --kernel k 2>&1 | filecheck %s --check-prefix FUSION

// The cheapest candidate is first, and a schedule that its family excludes is last.
// CHECK:      estimated cycles on cpu -mcpu=znver4
// CHECK:      @fused_nn_batch_matmul{{$}}
// CHECK-NEXT:   cycles arithmetic memory candidate
// CHECK-NEXT: * {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} batch_matmul: terms as lanes; 3 columns are too few for lanes
// CHECK-NEXT:   {{[0-9,]+}} {{[0-9,]+}} {{[0-9,]+}} reduction: accumulators in registers; any reduction
// CHECK-NEXT:   - - - batch_matmul: columns as lanes; refused: 3 columns are too few for lanes
// CHECK:      @fused_nn_softmax{{$}}
// CHECK:      * {{.*}} softmax: all stages of a row
// ONE-NOT:    @fused_nn_softmax
// ONE:          decisions
// ONE-NEXT:       3 columns are too few for lanes; lanes run along the terms of a sum
// ONE:          primitives
// ONE:            compute_at("batch_matmul", "{{.*}}")
// JSON:       "version": 1,
// JSON:       "kernel": "fused_nn_softmax",
// JSON:       "family": "softmax",
// JSON:       "cycles": {{[0-9]+}},
// JSON:       "refused": null,
// JSON-NEXT:  "chosen": true,
// GIVEN:      @fused_nn_batch_matmul{{$}}
// GIVEN-NEXT:   the schedule is given: batch_matmul: 3 columns are too few for lanes
// GIVEN:        primitives
// UNKNOWN:    error: no kernel is called 'softmax'; help: did you mean 'fused_nn_softmax'?
// OP:         error: --op, --as-is and --dot are for fusion
// FUSION:     error: --kernel, --target and --records are for schedule
func.func @main(%x: tensor<2x64x64xf32>, %w: tensor<2x3x64xf32>) -> tensor<2x64x3xf32> {
  %y = relay.nn.batch_matmul(%x, %w) : (tensor<2x64x64xf32>, tensor<2x3x64xf32>) -> tensor<2x64x3xf32>
  %z = relay.nn.softmax(%y) : (tensor<2x64x3xf32>) -> tensor<2x64x3xf32>
  func.return %z : tensor<2x64x3xf32>
}
