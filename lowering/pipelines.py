"""The table of contents of the compiler: from a relay module to the llvm dialect, stage by stage.

A stage is a level of the program and the passes that bring the program there from the stage before. `xrelay-opt -p
NAME` runs a stage alone on its text, `--dump-stages` writes the program after each, and `xrelay.compile` runs them all.
Names of passes are those of `xrelay.lowering.registry`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.errors import InputError
from xrelay.lowering.to_llvm.pipeline import LLVM_PIPELINE, llvm_pipeline
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, Decide, PipelineRow, chosen_passes
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.points import PipelineWeaver


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
    *,
    opt_level: int = MAX_OPT_LEVEL,
    vector_lanes: int = 16,
    schedule_target: str = "",
    converts_f16: bool = True,
    dot_products: tuple[str, int] | None = None,
    decide: Decide | None = None,
) -> list[Stage]:
    """The stages of a compilation.

    `vector_lanes` is how many f32 the target's vectors hold; `schedule_target` is the target in the form that
    `loop-assign-schedules{target=…}` takes, empty for the generic one; `converts_f16` is whether the target has
    instructions between f16 and f32; `dot_products` is its instruction for sums of products of bytes, with
    the bits of its longest vectors. Raises `InputError` for an opt_level that is not between 0 and 3. `decide` may
    name passes of the optimiser that run, or do not, whatever their level; without `relay-fuse-ops` every op is a
    kernel of its own.
    """
    if not 0 <= opt_level <= MAX_OPT_LEVEL:
        raise InputError(f"opt_level must be between 0 and {MAX_OPT_LEVEL}, found {opt_level}")
    fuse_level = 0 if decide is not None and decide("relay-fuse-ops") is False else opt_level
    assign = f'loop-assign-schedules{{target="{schedule_target}"}}' if schedule_target else "loop-assign-schedules"
    fuse, llvm = (
        f"relay-fuse-ops{{fuse-opt-level={fuse_level}}}",
        llvm_pipeline(converts_f16=converts_f16, dot_products=dot_products),
    )
    return [
        Stage(phase, tuple(_chosen(phase, rows, opt_level, vector_lanes, decide)))
        for phase, rows in _woven(PipelineWeaver(), fuse, assign, llvm)
    ]


def extension_points() -> list[str]:
    """Returns the points of the pipeline at which passes of other packages may run, in its order."""
    weaver = PipelineWeaver()
    _woven(weaver, "relay-fuse-ops", "loop-assign-schedules")
    return weaver.points


def graph_rows() -> list[PipelineRow]:
    """Returns the rows of the graph pipeline up to fusion, those of other packages among them."""
    woven = dict(_woven(PipelineWeaver(), "relay-fuse-ops", "loop-assign-schedules"))
    fused = woven[Phase.FUSED]
    outlining = next(number for number, row in enumerate(fused) if row.pass_name == "relay-outline-fused")
    return [*woven[Phase.TYPED], *woven[Phase.OPTIMIZED], *fused[:outlining]]


def _woven(
    weaver: PipelineWeaver, fuse: str, assign: str, llvm: tuple[str, ...] = LLVM_PIPELINE
) -> list[tuple[Phase, list[PipelineRow]]]:
    """The rows of each stage, in order."""
    to_loops = (
        "topi-add-versions",
        "convert-topi-to-loop",
        "loop-place-parts",
        "loop-compute-in-place",
        assign,
        "loop-merge-kernels",
    )
    lowerings: dict[Phase, tuple[str, ...]] = {
        # Lower levels run what stands before what they run, so no option of the optimiser leaves this out.
        Phase.FUSED: ("relay-to-basic-block-normal-form", fuse, "relay-outline-fused"),
        Phase.TOPI: ("convert-relay-to-topi", "topi-inline-injective", "dce"),
        Phase.LOOP: ("topi-expand-named", "topi-inline-injective", "dce", *to_loops),
        Phase.SCHEDULED: ("loop-apply-schedules", "loop-plan-memory", "loop-lower-blocks", "loop-split-conditions"),
        Phase.SCF: ("convert-loop-to-scf", "scf-select-versions", "scf-simplify"),
        Phase.LLVM: llvm,
    }
    rows = {
        Phase.TYPED: (PipelineRow(0, "relay-infer-type", "every other pass asks for types"),),
        Phase.OPTIMIZED: DEFAULT_PIPELINE,
        **{phase: tuple(PipelineRow(0, spec, phase.value) for spec in specs) for phase, specs in lowerings.items()},
    }
    return [(phase, weaver.stage(phase.name.lower(), rows[phase])) for phase in Phase]


def _chosen(
    phase: Phase, rows: Sequence[PipelineRow], opt_level: int, vector_lanes: int, decide: Decide | None
) -> list[str]:
    """The passes of a stage that run: nobody decides about those that lower."""
    optional = registered_passes()

    def decide_here(name: str) -> bool | None:
        asked = decide is not None and (phase is Phase.OPTIMIZED or name in optional)
        return decide(name) if decide is not None and asked else None

    return chosen_passes(rows, opt_level, vector_lanes=vector_lanes, decide=decide_here)


def all_passes(stages: Iterable[Stage]) -> list[str]:
    """The passes of several stages in a row."""
    return [name for stage in stages for name in stage.passes]
