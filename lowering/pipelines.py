"""The table of contents of the compiler: from a relay module to the llvm dialect, stage by stage.

A stage is a level of the program and the passes that bring the program there from the stage before. `xrelay-opt -p
NAME` runs a stage alone on its text, `--dump-stages` writes the program after each, and `xrelay.compile` runs them all.
Names of passes are those of `xrelay.lowering.registry`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.attribute_names import INPUTS
from xrelay.errors import InputError
from xrelay.lowering.interface import has_interface
from xrelay.lowering.to_llvm.pipeline import LLVM_PIPELINE
from xrelay.passes.catalogue.default_pipeline import Decide, default_passes
from xrelay.passes.instruments.levels import level_of

MAX_OPT_LEVEL = 3


class Phase(Enum):
    """The stages in order, each with one line on what the program is afterwards."""

    TYPED = "relay with every type known"
    OPTIMIZED = "relay after the graph optimiser: inference forms, folded constants, layouts"
    FUSED = "relay kernels: one function per fused group, called by @main"
    TOPI = "index spaces: every kernel is a chain of computes and named ops"
    LOOP = "loop nests on buffers, not yet scheduled, with the schedule each kernel will get"
    SCHEDULED = "loop nests after scheduling, buffers of @main in one arena"
    SCF = "scf, memref, vector, arith and math: upstream vocabulary"
    LLVM = "the llvm dialect"


@dataclass(frozen=True)
class Stage:
    """One phase and the pipeline (in xDSL's syntax) that leads to it from the one before."""

    phase: Phase
    passes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The phase's name in lower case, as files and flags write it."""
        return self.phase.name.lower()


def compile_stages(
    *, opt_level: int = MAX_OPT_LEVEL, vector_lanes: int = 16, schedule_target: str = "", decide: Decide | None = None
) -> list[Stage]:
    """The stages of a compilation.

    `vector_lanes` is how many f32 the target's vectors hold; `schedule_target` is the target in the form that
    `loop-assign-schedules{target=…}` takes, empty for the generic one. Raises `InputError` for an opt_level that is not
    between 0 and 3. `decide` may name passes of the optimiser that run, or do not, whatever their level; without
    `relay-fuse-ops` every op is a kernel of its own.
    """
    if not 0 <= opt_level <= MAX_OPT_LEVEL:
        raise InputError(f"opt_level must be between 0 and {MAX_OPT_LEVEL}, found {opt_level}")
    fuse_level = 0 if decide is not None and decide("relay-fuse-ops") is False else opt_level
    assign = f'loop-assign-schedules{{target="{schedule_target}"}}' if schedule_target else "loop-assign-schedules"
    return [
        Stage(Phase.TYPED, ("relay-infer-type",)),
        Stage(Phase.OPTIMIZED, tuple(default_passes(opt_level, vector_lanes=vector_lanes, decide=decide))),
        Stage(Phase.FUSED, (f"relay-fuse-ops{{fuse-opt-level={fuse_level}}}", "relay-outline-fused")),
        Stage(Phase.TOPI, ("convert-relay-to-topi", "topi-inline-injective", "dce")),
        Stage(Phase.LOOP, ("topi-expand-named", "topi-inline-injective", "dce", "convert-topi-to-loop", assign)),
        Stage(Phase.SCHEDULED, ("loop-apply-schedules", "loop-plan-memory", "loop-lower-blocks")),
        Stage(Phase.SCF, ("convert-loop-to-scf", "canonicalize", "cse")),
        Stage(Phase.LLVM, LLVM_PIPELINE),
    ]


def remaining_stages(stages: Sequence[Stage], module: ModuleOp) -> list[Stage]:
    """The stages that `module` has yet to go through, by the ops it holds: all of them for relay.

    At the loop level a module is as its author wants it: `loop.schedule`s that it has are applied, none is assigned.
    Raises `InputError` for a module below the loop level that does not say what running it needs.
    """
    reached = _phase_of(module)
    phases = list(Phase)
    return [stage for stage in stages if reached is None or phases.index(stage.phase) > phases.index(reached)]


def _phase_of(module: ModuleOp) -> Phase | None:
    """The phase that a module is in; None for relay, which any of three may be."""
    if has_interface(module):
        return Phase.LLVM if any(isinstance(op, llvm.FuncOp) for op in module.ops) else Phase.SCF
    try:
        return {"relay": None, "topi": Phase.TOPI, "loop": Phase.LOOP}[level_of(module)]
    except InputError as error:
        raise InputError(
            f"the module is below the loop level and does not say in {INPUTS} what its inputs are",
            help="compile from the loop level or above; convert-loop-to-scf writes what running a module needs",
        ) from error


def all_passes(stages: Iterable[Stage]) -> list[str]:
    """The passes of several stages in a row."""
    return [name for stage in stages for name in stage.passes]
