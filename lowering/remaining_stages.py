"""Which stages of the compiler a module has yet to go through."""

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
"""Passes at the ends of phases of a module that was not lowered from relay."""


def remaining_stages(stages: Sequence[Stage], module: ModuleOp) -> list[Stage]:
    """The stages that `module` has yet to go through, by the ops it holds: all of them for relay.

    At the loop level a module is as its author wants it: `loop.schedule`s that it has are applied, none is assigned.
    Accesses of a module from the topi or the loop level are checked, as its author may have written any.
    Raises `InputError` for a module below the loop level that does not say what running it needs.
    """
    reached = _phase_of(module)
    phases = list(Phase)
    if reached is None:
        return list(stages)
    left = [stage for stage in stages if phases.index(stage.phase) > phases.index(reached)]
    return [Stage(stage.phase, (*stage.passes, *_CHECKS.get(stage.phase, ()))) for stage in left]


def _phase_of(module: ModuleOp) -> Phase | None:
    """The phase that a module is in; None for relay, which any of three may be."""
    if has_interface(module):
        return Phase.LLVM if any(isinstance(op, llvm.FuncOp) for op in module.ops) else Phase.SCF
    try:
        return {"relay": None, "topi": Phase.TOPI, "loop": Phase.LOOP}[module_level(module)]
    except InputError as error:
        raise InputError(
            f"the module is below the loop level and does not say in {INPUTS} what its inputs are",
            help="compile from the loop level or above; convert-loop-to-scf writes what running a module needs",
        ) from error
