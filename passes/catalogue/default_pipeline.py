"""The default pipeline of the graph optimiser: one row per pass, with its level and the reason why it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

Decide: TypeAlias = Callable[[str], bool | None]
"""Maps a pass name to whether the pass runs; None leaves that to its level."""


ON_DEMAND = 4
"""The level of passes that run only on request, by `required_pass` or a flag."""


@dataclass(frozen=True)
class PipelineRow:
    """A pass of the default pipeline."""

    opt_level: int
    """The lowest optimisation level at which it runs."""
    spec: str
    """The pass with its options, in the syntax of `xrelay-opt -p`; `{lanes}` represents the target's f32 lanes."""
    why: str

    @property
    def pass_name(self) -> str:
        """The pass without its options."""
        return self.spec.partition("{")[0]


DEFAULT_PIPELINE: tuple[PipelineRow, ...] = (
    PipelineRow(0, "relay-dissolve-compiler-regions", "no code generator from outside takes regions of the graph"),
    PipelineRow(0, "relay-recursion-to-loop", "what calls itself cannot be inlined, a loop can"),
    PipelineRow(0, "relay-inline", "native code knows kernels and one function that calls them"),
    PipelineRow(0, "relay-lift-closures", "native code calls functions that it knows, and has no others"),
    PipelineRow(0, "relay-specialize-functions", "a function that is still called knows its extents"),
    PipelineRow(1, "relay-to-basic-block-normal-form", "what one branch alone needs runs in it"),
    PipelineRow(0, "relay-dynamic-to-static", "native code has shapes that stand in the op"),
    PipelineRow(ON_DEMAND, "relay-fake-quantization-to-integer", "quantised networks run in integers"),
    PipelineRow(1, "qnn-legalize", "functions of 256 numbers are tables"),
    PipelineRow(0, "qnn-canonicalize-ops", "quantised numbers are plain integers now"),
    PipelineRow(1, "relay-legalize", "hooks put other operators in the place of those that a target lacks"),
    PipelineRow(0, "relay-simplify-inference", "batch norms become factors and shifts, dropouts nothing"),
    PipelineRow(0, "relay-dead-code-elimination", "what nobody needs, inlined functions too, goes"),
    PipelineRow(0, "relay-expand-composites", "ops of several heavy parts fuse part by part"),
    PipelineRow(3, "relay-eliminate-common-subexpr", "what is computed twice is computed once"),
    PipelineRow(2, "relay-fold-constant", "the factors and shifts become constants"),
    PipelineRow(2, "relay-narrow-products", "CPUs multiply four bytes in the time of one number of 32 bits"),
    PipelineRow(3, "relay-fold-scale-axis", "the factors go into the weights"),
    PipelineRow(3, "relay-canonicalize-ops", "biases are added by broadcasting, whatever the layout"),
    PipelineRow(3, "relay-alter-op-layout{vector-lanes={lanes}}", "one vector holds one block of channels"),
    PipelineRow(ON_DEMAND, "relay-fast-math", "six digits of exponentials and their kin are enough"),
    PipelineRow(2, "relay-fold-constant", "weights are packed now"),
    PipelineRow(1, "relay-dead-code-elimination", "what that left behind goes"),
    PipelineRow(0, "relay-name-extents", "native code allocates a result before the kernel that fills it runs"),
    PipelineRow(0, "relay-split-wide-ops", "the time of LLVM is more than linear in the arguments of a kernel"),
)
"""The passes between `relay-infer-type` and `relay-fuse-ops`, in order.

Level 0 does what native code requires, level 1 cleans up, level 2 evaluates compile-time constants, level 3 also
changes layouts and re-associates floating-point arithmetic (as the simplification of a batch norm does at any level).
"""


def chosen_passes(
    rows: Iterable[PipelineRow], opt_level: int, *, vector_lanes: int = 16, decide: Decide | None = None
) -> list[str]:
    """Returns the passes of `rows` that run at `opt_level`, in the syntax of `xrelay-opt -p`.

    `vector_lanes` is the number of f32 elements in a vector register of the target. `decide` is called with each pass
    name and returns whether the pass runs, regardless of its level; None leaves that to the level.
    """
    chosen: list[str] = []
    for row in rows:
        answer = decide(row.pass_name) if decide is not None else None
        if answer if answer is not None else row.opt_level <= opt_level:
            chosen.append(row.spec.replace("{lanes}", str(vector_lanes)))
    return chosen


def default_passes(opt_level: int, *, vector_lanes: int = 16, decide: Decide | None = None) -> list[str]:
    """Returns the passes of the default pipeline at `opt_level`; see `chosen_passes`."""
    return chosen_passes(DEFAULT_PIPELINE, opt_level, vector_lanes=vector_lanes, decide=decide)


def pipeline_table() -> str:
    """Returns the default pipeline as text: level, pass, reason."""
    width = max((len(row.spec) for row in DEFAULT_PIPELINE), default=0)
    return "\n".join(f"{row.opt_level}  {row.spec:<{width}}  {row.why}" for row in DEFAULT_PIPELINE)
