"""The registry of all passes: those of `passes/`, and the lowerings listed here.

`xrelay-opt --list-passes` prints `ALL_PASSES` in order, xDSL's plugin entry point makes it available to `xdsl-opt`, and
`xrelay.lowering.pipelines` refers to its names. A class is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Final

from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes

from xrelay.errors import PassError
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.registry import FOLDERS, member_of, target_of
from xrelay.passes.infra.pipeline_text import parse_passes

LOWERINGS: dict[str, str] = {
    "relay-parametrize-constants": (
        "xrelay.lowering.relay_to_topi.parametrize_constants:RelayParametrizeConstantsPass"
    ),
    "relay-merge-kernels": "xrelay.lowering.relay_to_topi.merge_kernels:RelayMergeKernelsPass",
    "convert-relay-to-topi": "xrelay.lowering.relay_to_topi.convert_relay_to_topi:ConvertRelayToTopiPass",
    "convert-topi-to-loop": "xrelay.lowering.topi_to_loop.convert_topi_to_loop:ConvertTopiToLoopPass",
    "loop-assign-records": "xrelay.lowering.topi_to_loop.assign_records:LoopAssignRecordsPass",
    "loop-assign-schedules": "xrelay.lowering.topi_to_loop.assign_schedules:LoopAssignSchedulesPass",
    "loop-schedule-kernels": "xrelay.lowering.topi_to_loop.schedule_kernels:LoopScheduleKernelsPass",
    "convert-loop-to-scf": "xrelay.lowering.loop_to_scf.convert_loop_to_scf:ConvertLoopToScfPass",
    "scf-select-versions": "xrelay.lowering.loop_to_scf.scf_select_versions:ScfSelectVersionsPass",
    "scf-simplify": "xrelay.lowering.loop_to_scf.scf_simplify:ScfSimplifyPass",
    "convert-scf-parallel-to-calls": (
        "xrelay.lowering.to_llvm.convert_scf_parallel_to_calls:ConvertScfParallelToCallsPass"
    ),
    "memref-hoist-allocations": "xrelay.lowering.to_llvm.memref_hoist_allocations:MemrefHoistAllocationsPass",
    "arith-guard-division": "xrelay.lowering.to_llvm.expansions.arith_guard_division:ArithGuardDivisionPass",
    "arith-expand-half": "xrelay.lowering.to_llvm.expansions.arith_expand_half:ArithExpandHalfPass",
    "vector-expand-dot-products": (
        "xrelay.lowering.to_llvm.expansions.vector_expand_dot_products:VectorExpandDotProductsPass"
    ),
    "math-expand": "xrelay.lowering.to_llvm.expansions.math_expand:MathExpandPass",
    "convert-scf-to-llvm": "xrelay.lowering.to_llvm.convert_scf_to_llvm:ConvertScfToLLVMPass",
    "convert-scf-to-branches": "xrelay.lowering.to_llvm.convert_scf_to_branches:ConvertScfToBranchesPass",
    "convert-memref-to-llvm": "xrelay.lowering.to_llvm.convert_memref_to_llvm:ConvertMemrefToLLVMPass",
    "convert-vector-to-llvm": "xrelay.lowering.to_llvm.convert_vector_to_llvm:ConvertVectorToLLVMPass",
    "convert-amx-to-llvm": "xrelay.lowering.to_llvm.convert_amx_to_llvm:ConvertAmxToLLVMPass",
    "convert-arith-to-llvm": "xrelay.lowering.to_llvm.convert_arith_to_llvm:ConvertArithToLLVMPass",
    "convert-math-to-llvm": "xrelay.lowering.to_llvm.convert_math_to_llvm:ConvertMathToLLVMPass",
    "convert-cf-to-llvm": "xrelay.lowering.to_llvm.convert_cf_to_llvm:ConvertCfToLLVMPass",
    "convert-func-to-llvm": "xrelay.lowering.to_llvm.convert_func_to_llvm:ConvertFuncToLLVMPass",
    "llvm-hoist-addresses": "xrelay.lowering.to_llvm.hoist_addresses:LlvmHoistAddressesPass",
    "llvm-recursion-to-frames": "xrelay.lowering.to_llvm.recursion_to_frames:LlvmRecursionToFramesPass",
}
"""Pass name → "module:Class"."""

ALL_PASSES: dict[str, str] = {**{name: target_of(name) for name in FOLDERS}, **LOWERINGS}


def load_pass(name: str) -> type[ModulePass]:
    """Returns the class of the pass called `name`; raises `PassError` for an unknown name."""
    added = registered_passes().get(name)
    if added is not None:
        return added.load()
    target = ALL_PASSES.get(name)
    if target is None:
        raise PassError(f"no pass is called {name!r}", help="xrelay-opt --list-passes shows them all")
    return member_of(target)


def pass_thunks() -> dict[str, Callable[[], type[ModulePass]]]:
    """Returns the registry, with the passes of other packages, in the form that xDSL's `Universe` and tools expect."""
    return {**_THUNKS, **{name: partial(load_pass, name) for name in registered_passes()}}


def passes_of(specs: tuple[str, ...]) -> Sequence[ModulePass]:
    """Returns the passes of a pipeline of the compiler or of xDSL, with their options.

    Compilations share them, since they are immutable; passes of other packages may not be, and are created anew.
    """
    if registered_passes().keys().isdisjoint(spec.partition("{")[0] for spec in specs):
        return _shared_passes(specs)
    return _parsed(specs)


@lru_cache(maxsize=256)
def _shared_passes(specs: tuple[str, ...]) -> Sequence[ModulePass]:
    return _parsed(specs)


def _parsed(specs: tuple[str, ...]) -> Sequence[ModulePass]:
    return parse_passes(",".join(specs), {**get_all_passes(), **pass_thunks()})


_THUNKS: Final = {name: partial(load_pass, name) for name in ALL_PASSES}
