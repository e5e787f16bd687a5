"""`loop-unroll`: the schedule primitive `unroll` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import SchedulePrimitive, Unroll
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopUnrollPass(PrimitivePass):
    """Apply `unroll` to the kernels that have what it names: `-p 'loop-unroll{loop=w_i}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/unroll.py`.
    """

    name = "loop-unroll"

    loop: str = field(metadata={"help": "the loop to unroll"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return Unroll(self.loop)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.loop,)
