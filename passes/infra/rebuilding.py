"""Conversion beside the program: patterns write the next level to new blocks, and what they read stays as it is.

`apply_conversion` replaces ops where they stand, so between a level that is converted and one that is not yet it has to
put casts. Where everything in a function is converted, one `RebuildingRewriter` does it without: it remembers for each
value the one that stands for it. Patterns see the program of the level before, whole; they are the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.passes.infra.conversion import ConversionRewriter, TypeConverter


class RebuildingRewriter(ConversionRewriter):
    """A rewriter whose patterns write to new blocks; what is replaced and erased is left to who drops the old ones."""

    def __init__(self, types: TypeConverter):
        super().__init__(types)
        self._values: dict[SSAValue, SSAValue] = {}
        self.blocks: dict[Block, Block] = {}
        """Blocks of the level before → those that are written for them."""

    def begin(self, op: Operation) -> None:
        """Turn to `op`, whose location new ops get; they go to where the last ones went."""
        self.locate_at(op)

    def operand(self, value: SSAValue) -> SSAValue:
        """The value that stands for `value`; a cast where that one's op was kept as it is."""
        known = self._values.get(value)
        return super().operand(value) if known is None else known

    def bind(self, old: SSAValue, new: SSAValue) -> None:
        """Let `new` stand for `old`."""
        if new.name_hint is None:
            new.name_hint = old.name_hint
        self._values[old] = new

    def block(self, block: Block) -> Block:
        """The block that is written for `block`."""
        return self.blocks[block]

    def replace(self, op: Operation, values: Operation | Sequence[SSAValue]) -> None:
        """Let `values` (or the results of an op) stand for the results of `op`."""
        for old, new in zip(op.results, values.results if isinstance(values, Operation) else values, strict=True):
            self.bind(old, new)

    def erase(self, op: Operation) -> None:
        """Nothing is written for `op`."""

    def look_through(self, cast: UnrealizedConversionCastOp) -> None:
        """Let what stands for the operands of `cast` stand for its results, which have the same types then."""
        self._values.update(zip(cast.results, self.operands(cast.operands), strict=True))

    def keep(self, op: Operation, block: Block) -> None:
        """Move `op` to the end of `block`, and have it read what stands for its operands."""
        op.detach()
        op.operands = self.operands(op.operands)
        block.add_op(op)
