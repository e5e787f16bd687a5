"""`loop-disable-unroll`: the schedule primitive `disable_unroll` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import DisableUnroll, SchedulePrimitive
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopDisableUnrollPass(PrimitivePass):
    """Apply `disable_unroll` to the kernels that have what it names: `-p 'loop-disable-unroll{loop=k}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/disable_unroll.py`.
    """

    name = "loop-disable-unroll"

    loop: str = field(metadata={"help": "the loop to leave rolled"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return DisableUnroll(self.loop)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.loop,)
