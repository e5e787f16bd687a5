"""`loop-tile`: the schedule primitive `tile` as a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from xrelay.dialects.loop.schedule import SchedulePrimitive, Tile
from xrelay.errors import PassError
from xrelay.passes.loop.primitive_pass import PrimitivePass, parse_tail


@dataclass(frozen=True, kw_only=True)
class LoopTilePass(PrimitivePass):
    """Apply `tile` to the kernels that have what it names: `-p 'loop-tile{outer=i inner=j factors=6,64}'`.

    What it does, with a picture, and when it refuses: `passes/loop/primitives/tile.py`.
    """

    name = "loop-tile"

    outer: str = field(metadata={"help": "the outer loop"})
    inner: str = field(metadata={"help": "the inner loop"})
    factors: tuple[int, ...] = field(metadata={"help": "the two tile sizes"})
    tail: str = field(default="peel", metadata={"help": "how a partial last tile is handled: peel, mask or overlap"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""
        if len(self.factors) != 2:
            raise PassError(f"{self.name}: two factors are needed, got {len(self.factors)}", help="factors=6,64")
        return Tile(self.outer, self.inner, self.factors[0], self.factors[1], parse_tail(self.tail))

    def subjects(self) -> tuple[str, ...]:
        """The names that a kernel must have to be meant."""
        return (self.outer, self.inner)
