"""`loop-set-tail`: the schedule primitive `set_tail` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import SchedulePrimitive, SetTail
from xrelay.passes.loop.primitive_pass import PrimitivePass, parse_tail


@dataclass(frozen=True, kw_only=True)
class LoopSetTailPass(PrimitivePass):
    """Apply `set_tail` to the kernels that have what it names: `-p 'loop-set-tail{loop=w_o tail=mask}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/set_tail.py`.
    """

    name = "loop-set-tail"

    loop: str = field(metadata={"help": "the loop"})
    tail: str = field(metadata={"help": "peel, mask or overlap"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return SetTail(self.loop, parse_tail(self.tail))

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.loop,)
