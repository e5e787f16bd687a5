"""`loop-vectorize`: the schedule primitive `vectorize` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import SchedulePrimitive, Vectorize
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopVectorizePass(PrimitivePass):
    """Apply `vectorize` to the kernels that have what it names: `-p 'loop-vectorize{loop=c_i}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/vectorize.py`.
    """

    name = "loop-vectorize"

    loop: str = field(metadata={"help": "the loop to vectorize"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return Vectorize(self.loop)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.loop,)
