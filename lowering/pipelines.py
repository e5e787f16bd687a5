"""The stages of the compiler, from a relay module to the llvm dialect.

A stage is a level of the program with the passes that lower the previous stage to it. `xrelay-opt -p NAME` runs one
stage on a text, `--dump-stages` writes the program after each, and `xrelay.compile` runs them all. Pass names are those
of `xrelay.lowering.registry`.

A module may yield several programs: `@main`, and a program for each closure that `@main` returns, which calls the
closure. The stages in `PHASES_OF_ALL_ENTRIES` process all of them in one module, in which `relay.callers` lists the
entries. The later stages process one program: `compile_stages(entry=…)` selects its entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.dialects.shared.attribute_names import INPUTS
from xrelay.errors import InputError
from xrelay.passes.catalogue.default_pipeline import (
    LEVEL_ONLY,
    LIFTING_PIPELINE,
    MAIN,
    OPTIMIZER_PIPELINE,
    PassSelection,
    PipelineRow,
    PipelineWeaver,
    chosen_passes,
)
from xrelay.passes.catalogue.extensions import RegisteredPass, registered_passes
from xrelay.passes.infra.module_level import module_level
from xrelay.target.instructions import TileProduct


class Phase(Enum):
    """The stages in order, each with a description of the program after it."""

    TYPED = "relay with every type known"
    LIFTED = "relay without closures; for each closure that @main returns, a function that calls it"
    OPTIMIZED = "relay after the graph optimiser: simplified for inference, constants folded, layouts chosen"
    FUSED = "relay kernels: one function per fused group, called by @main"
    TOPI = "index spaces: every kernel is a chain of computes and named ops"
    LOOP = "loop nests on buffers before scheduling; each kernel has its schedule as an attribute"
    SCHEDULED = "loop nests after scheduling, buffers of @main in one arena"
    SCF = "scf, memref, vector, arith and math: upstream vocabulary"
    LLVM = "the llvm dialect"


PHASES_OF_ALL_ENTRIES: Final = frozenset({Phase.TYPED, Phase.LIFTED})
"""The phases whose stages process all entries of a module. The later stages process the program of one entry."""

OPTIMIZER: Final = frozenset({Phase.LIFTED, Phase.OPTIMIZED})
"""The phases of the graph optimiser. A `PassContext` enables or disables their passes."""


def llvm_pipeline(
    *,
    converts_f16: bool = True,
    dot_products: tuple[str, int] | None = None,
    scalef: bool = False,
    fma: bool = False,
) -> tuple[str, ...]:
    """Returns the names of the passes, in order, for a CPU with or without instructions to convert f16.

    `dot_products` is the name of the CPU's instruction for sums of products of bytes, with the width in bits of its
    longest vectors. `scalef` is whether the CPU has AVX-512's instructions for powers of two, and `fma` whether it has
    fused multiply-adds.

    Each pass also runs alone on a text; the program between two of them is valid upstream MLIR.
    """
    return (
        "convert-scf-parallel-to-calls",
        "memref-hoist-allocations",
        "arith-guard-division",
        "arith-expand-half" if converts_f16 else "arith-expand-half{f16=true}",
        _expand_dot_products(dot_products),
        _expand_math(scalef=scalef, fma=fma),
        "convert-scf-to-llvm",
        "llvm-hoist-addresses",
        "llvm-recursion-to-frames",
    )


def _expand_math(**instructions: bool) -> str:
    options = [f"{name}=true" for name, exists in instructions.items() if exists]
    return f"math-expand{{{' '.join(options)}}}" if options else "math-expand"


def _expand_dot_products(dot_products: tuple[str, int] | None) -> str:
    name = "vector-expand-dot-products"
    return name if dot_products is None else f"{name}{{instruction={dot_products[0]} width={dot_products[1]}}}"


STEPS = (
    "convert-scf-to-branches",
    "convert-memref-to-llvm",
    "convert-vector-to-llvm",
    "convert-amx-to-llvm",
    "convert-arith-to-llvm",
    "convert-math-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
)
"""The passes that `convert-scf-to-llvm` combines, with the same output: for reading, and for texts between them."""

KERNELS: Final = ("relay-keep-floats", "relay-parametrize-constants", "relay-merge-kernels")
"""The passes on outlined kernels."""

FUSE: Final = (
    "relay-fuse-ops",
    "relay-recompute-groups",
    "relay-fuse-rows",
    "relay-fuse-attention",
    "relay-flatten-folds",
)
"""The passes that decide which ops share a kernel, and how a kernel reads its data."""

ASSIGN: Final = ("loop-assign-schedules",)
"""The passes that assign schedules."""

LLVM_PIPELINE = llvm_pipeline()
"""The passes for an unknown CPU."""


@dataclass(frozen=True)
class Stage:
    """A phase, and the pipeline (in xDSL's syntax) that lowers the previous phase to it."""

    phase: Phase
    passes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Returns the phase's name in lower case, as in file names and flags."""
        return self.phase.name.lower()


def compile_stages(
    *,
    opt_level: int = MAX_OPT_LEVEL,
    vector_lanes: int = 16,
    schedule_target: str = "",
    converts_f16: bool = True,
    dot_products: tuple[str, int] | None = None,
    scalef: bool = False,
    fma: bool = False,
    tile_products: Sequence[TileProduct] = (),
    entry: str = MAIN,
    selection: PassSelection = LEVEL_ONLY,
    records: str = "",
) -> list[Stage]:
    """Returns the stages of a compilation.

    `vector_lanes` is the number of f32 elements in a vector register of the target. `schedule_target` is the target in
    the form of `loop-assign-schedules{target=…}`, empty for the generic target. `converts_f16` is whether the target
    has conversion instructions between f16 and f32. `dot_products` is the name of the target's instruction for sums of
    products of bytes, with the width in bits of its longest vectors. `scalef` is whether the target has
    AVX-512's instructions for powers of two, and `fma` whether it has fused multiply-adds. `tile_products` are its
    instructions on tiles. `entry` is the entry of the program that later stages process: `main`, or a function of
    `relay.callers`. `selection` enables or disables passes of the optimiser regardless of their level; without
    `relay-fuse-ops` every op is a kernel of its own. `records` is the path of a file of tuning records; it may be
    empty. Raises `InputError` if `opt_level` is not between 0 and 3.
    """
    if not 0 <= opt_level <= MAX_OPT_LEVEL:
        raise InputError(f"opt_level must be between 0 and {MAX_OPT_LEVEL}, found {opt_level}")
    assign = [f"loop-assign-schedules{_options(target=schedule_target)}"]
    if records:
        assign.insert(0, f"loop-assign-records{_options(file=records, target=schedule_target)}")
    llvm = llvm_pipeline(converts_f16=converts_f16, dot_products=dot_products, scalef=scalef, fma=fma)
    tiles = ",".join(product.name for product in tile_products)
    added = tuple(registered_passes().values())
    return list(_stages(opt_level, vector_lanes, tiles, entry, selection, tuple(assign), llvm, added))


@lru_cache(maxsize=64)
def _stages(
    opt_level: int,
    vector_lanes: int,
    tiles: str,
    entry: str,
    selection: PassSelection,
    assign: tuple[str, ...],
    llvm: tuple[str, ...],
    added: tuple[RegisteredPass, ...],
) -> tuple[Stage, ...]:
    """Returns the stages of a compilation with the passes `added` by other packages."""
    fuse_level = 0 if selection.decide("relay-fuse-ops") is False else opt_level
    fuse = (f"relay-fuse-ops{{fuse-opt-level={fuse_level}}}", *(FUSE[1:] if fuse_level > 1 else ()))
    to_scf = f"convert-loop-to-scf{{tiles={tiles}}}" if tiles else "convert-loop-to-scf"
    optional = frozenset(each.name for each in added)
    return tuple(
        Stage(
            phase,
            tuple(
                chosen_passes(
                    rows,
                    opt_level,
                    vector_lanes=vector_lanes,
                    tiles=tiles,
                    entry=entry,
                    selection=selection if phase in OPTIMIZER else selection.among(optional),
                )
            ),
        )
        for phase, rows in _woven(PipelineWeaver(added), fuse, assign, llvm, to_scf)
    )


def _options(**options: str) -> str:
    """Returns the text of a pass's options; those that are empty are left out."""
    given = [f'{name}="{value}"' for name, value in options.items() if value]
    return f"{{{' '.join(given)}}}" if given else ""


def extension_points() -> list[str]:
    """Returns the names of the points at which passes of other packages may run, in pipeline order."""
    weaver = PipelineWeaver(registered_passes().values())
    _woven(weaver, FUSE, ASSIGN)
    return weaver.points


def graph_rows() -> list[PipelineRow]:
    """Returns the rows of the graph pipeline up to fusion, including those of other packages."""
    woven = dict(_woven(PipelineWeaver(registered_passes().values()), FUSE, ASSIGN))
    fused = woven[Phase.FUSED]
    outlining = next(number for number, row in enumerate(fused) if row.pass_name == "relay-outline-fused")
    return [*woven[Phase.TYPED], *woven[Phase.LIFTED], *woven[Phase.OPTIMIZED], *fused[:outlining]]


def _woven(
    weaver: PipelineWeaver,
    fuse: Sequence[str],
    assign: Sequence[str],
    llvm: tuple[str, ...] = LLVM_PIPELINE,
    to_scf: str = "convert-loop-to-scf",
) -> list[tuple[Phase, list[PipelineRow]]]:
    """Returns the rows of each stage, in order."""
    to_loops = (
        "topi-add-versions",
        "convert-topi-to-loop",
        "loop-elide-copies",
        "loop-compute-in-place",
        "loop-collapse-images{vector-lanes={lanes}}",
        *assign,
        "loop-merge-kernels",
        "loop-parametrize-kernels",
    )
    lowerings: dict[Phase, tuple[str, ...]] = {
        # Basic block normal form is here, not in the optimiser, so that no optimiser option disables it.
        Phase.FUSED: ("relay-to-basic-block-normal-form", *fuse, "relay-outline-fused", *KERNELS),
        Phase.TOPI: ("convert-relay-to-topi", "topi-inline-injective"),
        Phase.LOOP: ("topi-expand-named", "topi-inline-injective", *to_loops),
        Phase.SCHEDULED: ("loop-apply-schedules", "loop-plan-memory", "loop-lower-blocks", "loop-split-conditions"),
        Phase.SCF: (to_scf, "scf-select-versions", "scf-simplify"),
        Phase.LLVM: llvm,
    }
    rows = {
        Phase.TYPED: (PipelineRow(0, "relay-infer-type", "every other pass needs types"),),
        Phase.LIFTED: LIFTING_PIPELINE,
        Phase.OPTIMIZED: OPTIMIZER_PIPELINE,
        **{phase: tuple(PipelineRow(0, spec, phase.value) for spec in specs) for phase, specs in lowerings.items()},
    }
    return [(phase, weaver.stage(phase.name.lower(), rows[phase])) for phase in Phase]


def all_passes(stages: Iterable[Stage]) -> list[str]:
    """Returns the passes of several stages as one list."""
    return [name for stage in stages for name in stage.passes]


def stages_before(name: str, stages: Iterable[Stage]) -> list[Stage]:
    """Returns the stages up to the pass `name`, which does not run; no stage if the module has passed it already."""
    found: list[Stage] = []
    for stage in stages:
        at = next((k for k, each in enumerate(stage.passes) if each.partition("{")[0] == name), None)
        found.append(stage if at is None else Stage(stage.phase, stage.passes[:at]))
        if at is not None:
            return found
    return []


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
    if INPUTS in module.attributes:
        return Phase.LLVM if any(op.name == "llvm.func" for op in module.ops) else Phase.SCF
    try:
        return {"relay": None, "topi": Phase.TOPI, "loop": Phase.LOOP}[module_level(module)]
    except InputError as error:
        raise InputError(
            f"the module is below the loop level, and has no attribute {INPUTS} that describes its inputs",
            help="run the loop level: xrelay run FILE --dump-stages DIR also writes an scf text with an @main",
        ) from error
