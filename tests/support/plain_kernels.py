"""Compiles without kernel schedules and without LLVM optimisation, for tests whose subject is not the kernels."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

from xdsl.dialects.builtin import ModuleOp

from xrelay.api import build_artifact
from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.api.stage_runner import StageRunner
from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.lowering.pipelines import Phase, compile_stages
from xrelay.passes.loop.nest_queries import kernels_of


def compile_plain(module: ModuleOp, opt_level: int) -> CompiledModel:
    """Compiles a module after the graph passes of a level; the module itself is unchanged."""
    module = module.clone()
    phases = list(Phase)
    upper = phases[: phases.index(Phase.LOOP) + 1]
    stages = [stage for stage in compile_stages(opt_level=opt_level) if stage.phase in upper]
    unscheduled = [each for each in stages[-1].passes if not each.startswith("loop-assign-schedules")]
    StageRunner([*stages[:-1], replace(stages[-1], passes=tuple(unscheduled))]).run(module)
    for kernel in kernels_of(module):
        kernel.attributes[SCHEDULE] = ScheduleAttr([])
    return compile_unoptimised(module)


def compile_unoptimised(module: ModuleOp) -> CompiledModel:
    """Compiles a module at opt_level 0 without LLVM optimisation."""
    with mock.patch.object(build_artifact, "LEAST_LLVM_LEVEL", 0):
        return compile(module, cache=False, threads=1, opt_level=0)
