"""Selects the stages that a module still has to go through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.shared.attribute_names import INPUTS
from xrelay.errors import InputError
from xrelay.lowering.interface import has_interface
from xrelay.lowering.pipelines import Phase, Stage
from xrelay.passes.infra.module_level import module_level

_CHECKS: Final = {Phase.SCHEDULED: ("loop-check-accesses",)}
"""Passes appended to a phase for modules that were not lowered from relay."""


def remaining_stages(stages: Sequence[Stage], module: ModuleOp) -> list[Stage]:
    """Returns the stages that `module` still has to go through, by the level of its ops; all of them for relay.

    In a module at the loop level, existing `loop.schedule` attributes are applied and none is assigned. Modules that
    enter at the topi or the loop level have their memory accesses checked, since they may be hand-written. Raises
    `InputError` for a module below the loop level without interface attributes.
    """
    reached = _phase_of(module)
    phases = list(Phase)
    if reached is None:
        return list(stages)
    left = [stage for stage in stages if phases.index(stage.phase) > phases.index(reached)]
    return [Stage(stage.phase, (*stage.passes, *_CHECKS.get(stage.phase, ()))) for stage in left]


def _phase_of(module: ModuleOp) -> Phase | None:
    """Returns the phase of a module; None for relay, which covers three phases."""
    if has_interface(module):
        return Phase.LLVM if any(isinstance(op, llvm.FuncOp) for op in module.ops) else Phase.SCF
    try:
        return {"relay": None, "topi": Phase.TOPI, "loop": Phase.LOOP}[module_level(module)]
    except InputError as error:
        raise InputError(
            f"the module is below the loop level and does not say in {INPUTS} what its inputs are",
            help="compile from the loop level or above; convert-loop-to-scf writes what running a module needs",
        ) from error
