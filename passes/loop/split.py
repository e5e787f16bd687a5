"""`loop-split`: the schedule primitive `split` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import SchedulePrimitive, Split
from xrelay.passes.loop.primitive_pass import PrimitivePass, parse_tail


@dataclass(frozen=True, kw_only=True)
class LoopSplitPass(PrimitivePass):
    """Apply `split` to the kernels that have what it names: `-p 'loop-split{loop=w factor=14 tail=mask}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/split.py`.
    """

    name = "loop-split"

    loop: str = field(metadata={"help": "the loop to split"})
    factor: int = field(metadata={"help": "iterations of the inner loop"})
    tail: str = field(default="peel", metadata={"help": "how a partial last tile is handled: peel, mask or overlap"})
    names: tuple[str, ...] = field(default=(), metadata={"help": "names of the outer and the inner loop"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return Split(self.loop, self.factor, parse_tail(self.tail), self.names)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.loop,)
