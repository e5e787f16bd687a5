"""Where every pass is found: its name and the class that implements it, imported only when it is used.

The order is the order in which the compiler meets them. `xrelay-opt --list-passes` prints this table, xDSL's plugin
entry point offers it to `xdsl-opt`, and `xrelay.lowering.pipelines` names its entries.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

from xrelay.errors import PassError

ALL_PASSES: dict[str, str] = {
    # relay
    "relay-simplify-inference": "xrelay.passes.relay.simplify_inference:RelaySimplifyInferencePass",
    "relay-fold-constant": "xrelay.passes.relay.fold_constant:RelayFoldConstantPass",
    "relay-canonicalize-ops": "xrelay.passes.relay.canonicalize_ops:RelayCanonicalizeOpsPass",
    "relay-fold-scale-axis": "xrelay.passes.relay.fold_scale_axis:RelayFoldScaleAxisPass",
    "relay-alter-op-layout": "xrelay.passes.relay.alter_op_layout:RelayAlterOpLayoutPass",
    "relay-inline": "xrelay.passes.relay.inline:RelayInlinePass",
    "relay-to-basic-block-normal-form": (
        "xrelay.passes.relay.to_basic_block_normal_form:RelayToBasicBlockNormalFormPass"
    ),
    "relay-eliminate-common-subexpr": "xrelay.passes.relay.eliminate_common_subexpr:RelayEliminateCommonSubexprPass",
    "relay-dead-code-elimination": "xrelay.passes.relay.dead_code_elimination:RelayDeadCodeEliminationPass",
    "relay-fuse-ops": "xrelay.passes.relay.fuse_ops:RelayFuseOpsPass",
    "relay-defuse-ops": "xrelay.passes.relay.defuse_ops:RelayDefuseOpsPass",
    "relay-outline-fused": "xrelay.passes.relay.outline_fused:RelayOutlineFusedPass",
    "relay-convert-layout": "xrelay.passes.relay.convert_layout:RelayConvertLayoutPass",
    "relay-to-a-normal-form": "xrelay.passes.relay.to_a_normal_form:RelayToANormalFormPass",
    "relay-to-graph-normal-form": "xrelay.passes.relay.to_graph_normal_form:RelayToGraphNormalFormPass",
    "relay-check-basic-block-normal-form": (
        "xrelay.passes.relay.check_basic_block_normal_form:RelayCheckBasicBlockNormalFormPass"
    ),
    "relay-remove-unused-functions": "xrelay.passes.relay.remove_unused_functions:RelayRemoveUnusedFunctionsPass",
    "relay-infer-type": "xrelay.passes.relay.infer_type:RelayInferTypePass",
    "relay-check-types": "xrelay.passes.relay.check_types:RelayCheckTypesPass",
    "convert-relay-to-topi": "xrelay.lowering.relay_to_topi.convert_relay_to_topi:ConvertRelayToTopiPass",
    "test-print-post-dominators": "xrelay.passes.analysis.test_print_post_dominators:TestPrintPostDominatorsPass",
    # topi
    "topi-expand-named": "xrelay.passes.topi.expand_named:TopiExpandNamedPass",
    "topi-inline-injective": "xrelay.passes.topi.inline_injective:TopiInlineInjectivePass",
    "convert-topi-to-loop": "xrelay.lowering.topi_to_loop.convert_topi_to_loop:ConvertTopiToLoopPass",
    # loop
    "loop-assign-schedules": "xrelay.lowering.topi_to_loop.assign_schedules:LoopAssignSchedulesPass",
    "loop-apply-schedules": "xrelay.passes.loop.apply_schedules:LoopApplySchedulesPass",
    "loop-split": "xrelay.passes.loop.split:LoopSplitPass",
    "loop-fuse": "xrelay.passes.loop.fuse:LoopFusePass",
    "loop-reorder": "xrelay.passes.loop.reorder:LoopReorderPass",
    "loop-tile": "xrelay.passes.loop.tile:LoopTilePass",
    "loop-unroll": "xrelay.passes.loop.unroll:LoopUnrollPass",
    "loop-disable-unroll": "xrelay.passes.loop.disable_unroll:LoopDisableUnrollPass",
    "loop-vectorize": "xrelay.passes.loop.vectorize:LoopVectorizePass",
    "loop-parallelize": "xrelay.passes.loop.parallelize:LoopParallelizePass",
    "loop-cache-write": "xrelay.passes.loop.cache_write:LoopCacheWritePass",
    "loop-compute-at": "xrelay.passes.loop.compute_at:LoopComputeAtPass",
    "loop-set-tail": "xrelay.passes.loop.set_tail:LoopSetTailPass",
    "loop-lower-blocks": "xrelay.passes.loop.lower_blocks:LoopLowerBlocksPass",
    "loop-plan-memory": "xrelay.passes.loop.plan_memory:LoopPlanMemoryPass",
    # scf and below
    "convert-loop-to-scf": "xrelay.lowering.loop_to_scf.convert_loop_to_scf:ConvertLoopToScfPass",
    "convert-scf-parallel-to-calls": (
        "xrelay.lowering.to_llvm.convert_scf_parallel_to_calls:ConvertScfParallelToCallsPass"
    ),
    "math-expand": "xrelay.lowering.to_llvm.math_expand:MathExpandPass",
    "convert-scf-to-branches": "xrelay.lowering.to_llvm.convert_scf_to_branches:ConvertScfToBranchesPass",
    "convert-memref-to-llvm": "xrelay.lowering.to_llvm.convert_memref_to_llvm:ConvertMemrefToLLVMPass",
    "convert-vector-to-llvm": "xrelay.lowering.to_llvm.convert_vector_to_llvm:ConvertVectorToLLVMPass",
    "convert-arith-to-llvm": "xrelay.lowering.to_llvm.convert_arith_to_llvm:ConvertArithToLLVMPass",
    "convert-math-to-llvm": "xrelay.lowering.to_llvm.convert_math_to_llvm:ConvertMathToLLVMPass",
    "convert-cf-to-llvm": "xrelay.lowering.to_llvm.convert_cf_to_llvm:ConvertCfToLLVMPass",
    "convert-func-to-llvm": "xrelay.lowering.to_llvm.convert_func_to_llvm:ConvertFuncToLLVMPass",
}
"""Pass name → "module:Class"."""


def load_pass(name: str) -> type[ModulePass]:
    """The class of the pass called `name`; raises `PassError` for an unknown name."""
    target = ALL_PASSES.get(name)
    if target is None:
        raise PassError(f"no pass is called {name!r}", help="xrelay-opt --list-passes shows them all")
    module, _, class_name = target.partition(":")
    return getattr(import_module(module), class_name)


def pass_thunks() -> dict[str, Callable[[], type[ModulePass]]]:
    """The table in the shape that xDSL's `Universe` and tools take."""

    def thunk(name: str) -> Callable[[], type[ModulePass]]:
        return lambda: load_pass(name)

    return {name: thunk(name) for name in ALL_PASSES}
