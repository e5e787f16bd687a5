"""Base of `topi.checked_index` and `loop.checked_index`: an index that is checked at run time."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, base, operand_def, opt_operand_def, opt_prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.extents import ExtentsAttr, extent_attr, extent_in, negative, parse_extent
from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import Dim, evaluate, substitute


class FailsOutOfRange(MemoryEffect):
    """A memory effect that represents failure, so that passes neither move nor erase the op.

    An index into an axis of one element has an unused value but may still be out of range.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        """Returns one effect that represents the failure."""
        return _FAILURE


_FAILURE = frozenset((EffectInstance(MemoryEffectKind.WRITE),))


class CheckedIndex(IRDLOperation, ABC):
    """An index in `[0, size)`: the operand itself after a check; with `from_end` negative operands count from the end.

    The program fails if the operand is outside of `[0, size)`, or of `[-size, size)` with `from_end`. An op with this
    check is therefore not evaluated if its value is not needed, and never omitted if it is. The size is a number, a
    dimension (at the topi level), or an operand (at the loop level).
    """

    index = operand_def(IndexType)
    dynamic_size = opt_operand_def(IndexType)
    size_attr = opt_prop_def(IntegerAttr.constr(i64) | base(ExtentsAttr), prop_name="size")
    from_end_attr = opt_prop_def(UnitAttr, prop_name="from_end")
    result = result_def(IndexType)

    traits = traits_def(FailsOutOfRange())

    def __init__(self, index: SSAValue, size: Dim | SSAValue, *, from_end: bool = False):
        number = None if isinstance(size, SSAValue) else extent_attr(size)
        super().__init__(
            operands=[index, [size] if isinstance(size, SSAValue) else []],
            properties={"size": number, "from_end": UnitAttr() if from_end else None},
            result_types=[IndexType()],
        )

    @property
    def extent(self) -> Dim:
        """The size; raises `DimensionError` if it is an operand."""
        if self.size_attr is None:
            raise DimensionError(f"the size of {self.name} is a value")
        return extent_in(self.size_attr)

    @property
    def size(self) -> int:
        """The size as an integer; raises `DimensionError` for a named dimension."""
        return evaluate(self.extent, {})

    def set_sizes(self, sizes: Mapping[str, int]) -> None:
        """Replaces named dimensions in the size by their sizes."""
        self.size_attr = extent_attr(substitute([self.extent], sizes)[0])

    @property
    def from_end(self) -> bool:
        """Whether negative indices count from the end."""
        return self.from_end_attr is not None

    @property
    def limits(self) -> tuple[int, int]:
        """The range of valid operands, excluding its end."""
        return (-self.size if self.from_end else 0, self.size)

    def verify_(self) -> None:
        """Checks C1."""
        if (self.size_attr is None) == (self.dynamic_size is None):
            raise VerifyException(f"[{self.name} C1] the size must be either a number or an operand")
        if isinstance(self.size_attr, ExtentsAttr) and len(self.size_attr.data) != 1:
            raise VerifyException(f"[{self.name} C1] the size must be one extent, found {self.size_attr}")
        if self.size_attr is not None and (size := negative([self.extent])) is not None:
            raise VerifyException(f"[{self.name} C1] size {size} is negative")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses `%k of 5 from_end`, or `%k of %n`."""
        index = parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
        parser.parse_keyword("of")
        value = parser.parse_optional_unresolved_operand()
        size = parse_extent(parser, "the size") if value is None else parser.resolve_operand(value, IndexType())
        op = cls(index, size, from_end=parser.parse_optional_keyword("from_end") is not None)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Prints `%k of 5 from_end`, or `%k of %n`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(" of ")
        if self.dynamic_size is None:
            printer.print_string(str(self.extent))
        else:
            printer.print_ssa_value(self.dynamic_size)
        printer.print_string(" from_end" if self.from_end else "")
        printer.print_op_attributes(self.attributes)


def out_of_range(value: int, limits: tuple[int, int]) -> str:
    """The message for an index that is out of range, equal to that of native code."""
    return f"index out of range: {value} is not in [{limits[0]}, {limits[1]})"
