"""Out-of-place conversion: patterns write the next level to new blocks, and the old program stays unchanged.

`apply_conversion` replaces ops in place, so it needs casts between converted and unconverted ops. If everything in a
function is converted, a `RebuildingRewriter` needs no casts: it maps each old value to its new one. Patterns see the
complete old program; they are the same for both drivers.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.passes.infra.conversion import ConversionRewriter, TypeConverter


class RebuildingRewriter(ConversionRewriter):
    """A rewriter whose patterns write to new blocks; the caller drops the old ones."""

    def __init__(self, types: TypeConverter):
        super().__init__(types)
        self._values: dict[SSAValue, SSAValue] = {}
        self.blocks: dict[Block, Block] = {}
        """Old blocks → new blocks."""

    def begin(self, op: Operation) -> None:
        """Sets the location of new ops to that of `op`; the insertion point stays."""
        self.locate_at(op)

    def operand(self, value: SSAValue) -> SSAValue:
        """Returns the new value for `value`, or a cast if its op was kept unconverted."""
        known = self._values.get(value)
        return super().operand(value) if known is None else known

    def bind(self, old: SSAValue, new: SSAValue) -> None:
        """Maps `old` to `new`."""
        if new.name_hint is None:
            new.name_hint = old.name_hint
        self._values[old] = new

    def block(self, block: Block) -> Block:
        """Returns the new block for `block`."""
        return self.blocks[block]

    def replace(self, op: Operation, values: Operation | Sequence[SSAValue]) -> None:
        """Maps the results of `op` to `values` (or the results of an op)."""
        for old, new in zip(op.results, values.results if isinstance(values, Operation) else values, strict=True):
            self.bind(old, new)

    def erase(self, op: Operation) -> None:
        """Does nothing: `op` has no counterpart at the new level."""

    def look_through(self, cast: UnrealizedConversionCastOp) -> None:
        """Maps the results of `cast` to the new values of its operands, which have the same converted types."""
        self._values.update(zip(cast.results, self.operands(cast.operands), strict=True))

    def keep(self, op: Operation, block: Block) -> None:
        """Moves `op` to the end of `block`, and replaces its operands with the new values."""
        op.detach()
        op.operands = self.operands(op.operands)
        block.add_op(op)
