"""What the graph optimiser does by default: one row a pass, with the level from which it runs and the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PipelineRow:
    """A pass of the default pipeline."""

    opt_level: int
    """The lowest optimisation level at which it runs."""
    spec: str
    """The pass with its options, as `xrelay-opt -p` reads it; `{lanes}` stands for the target's f32 lanes."""
    why: str


DEFAULT_PIPELINE: tuple[PipelineRow, ...] = ()
"""The passes between `relay-infer-type` and `relay-fuse-ops`, in order. Level 1 cleans up, level 2 evaluates what is
known when compiling, level 3 also re-associates floating-point arithmetic and changes layouts."""


def default_passes(opt_level: int, *, vector_lanes: int = 16) -> list[str]:
    """The passes of the default pipeline at `opt_level`, as `xrelay-opt -p` reads them.

    `vector_lanes` is how many f32 the target's vectors hold.
    """
    return [row.spec.replace("{lanes}", str(vector_lanes)) for row in DEFAULT_PIPELINE if row.opt_level <= opt_level]


def pipeline_table() -> str:
    """The default pipeline as text: level, pass, reason."""
    width = max((len(row.spec) for row in DEFAULT_PIPELINE), default=0)
    return "\n".join(f"{row.opt_level}  {row.spec:<{width}}  {row.why}" for row in DEFAULT_PIPELINE)
