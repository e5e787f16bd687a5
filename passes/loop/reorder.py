"""`loop-reorder`: the schedule primitive `reorder` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import Reorder, SchedulePrimitive
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopReorderPass(PrimitivePass):
    """Apply `reorder` to the kernels that have what it names: `-p 'loop-reorder{loops=k,i,j}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/reorder.py`.
    """

    name = "loop-reorder"

    loops: tuple[str, ...] = field(metadata={"help": "the loops in their new order"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return Reorder(self.loops)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return self.loops
