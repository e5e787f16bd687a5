"""`loop-compute-at`: the schedule primitive `compute_at` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import ComputeAt, SchedulePrimitive
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopComputeAtPass(PrimitivePass):
    """Apply `compute_at` to the kernels that have what it names: `-p 'loop-compute-at{block=conv loop=w_o}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/compute_at.py`.
    """

    name = "loop-compute-at"

    block: str = field(metadata={"help": "the producer"})
    loop: str = field(metadata={"help": "the loop of its consumer"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return ComputeAt(self.block, self.loop)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.block, self.loop)
