"""`loop-cache-write`: the schedule primitive `cache_write` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import CacheWrite, SchedulePrimitive
from xrelay.passes.loop.primitive_pass import PrimitivePass


@dataclass(frozen=True, kw_only=True)
class LoopCacheWritePass(PrimitivePass):
    """Apply `cache_write` to the kernels that have what it names: `-p 'loop-cache-write{block=gemm}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/cache_write.py`.
    """

    name = "loop-cache-write"

    block: str = field(metadata={"help": "the block that gets a buffer of its own"})
    space: str = field(default="local", metadata={"help": "the memory space of that buffer"})
    names: tuple[str, ...] = field(default=(), metadata={"help": "names of the loops of the copy"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        return CacheWrite(self.block, self.space, self.names)

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.block,)
