"""`loop-parallelize`: the schedule primitive `parallelize` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import Parallelize, SchedulePrimitive
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopParallelizePass(PrimitivePass):
    """Apply `parallelize` to the kernels that have what it names: `-p 'loop-parallelize{loop=n}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/parallelize.py`.
    """

    name = "loop-parallelize"

    loop: str = field(metadata={"help": "the loop to run by several threads"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return Parallelize(self.loop)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.loop,)
