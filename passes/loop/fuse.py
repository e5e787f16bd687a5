"""`loop-fuse`: the schedule primitive `fuse` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import Fuse, SchedulePrimitive
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopFusePass(PrimitivePass):
    """Apply `fuse` to the kernels that have what it names: `-p 'loop-fuse{outer=n inner=c into=nc}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/fuse.py`.
    """

    name = "loop-fuse"

    outer: str = field(metadata={"help": "the outer loop"})
    inner: str = field(metadata={"help": "the loop directly inside it"})
    into: str | None = field(default=None, metadata={"help": "the name of the fused loop"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return Fuse(self.outer, self.inner, self.into)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.outer, self.inner)
