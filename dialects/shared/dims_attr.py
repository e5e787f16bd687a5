"""`#relay.dims<n, s + 1>`: the names of a tensor type's `?` dimensions, in its encoding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xrelay.index_algebra.dim_syntax import parse_dim
from xrelay.index_algebra.dims import ANY, Dim, DimExpr


@irdl_attr_definition
class DimsAttr(Data[tuple[DimExpr, ...]]):
    """The expression for each `?` of a tensor type, in the order of the dimensions.

    `tensor<?x3x?xf32, #relay.dims<n, n + 1>>` has shape (n, 3, n + 1); `?` inside the list is Relay's Any.

    C1: one entry for each dynamic dimension of the type (checked when the shape is read).
    """

    name = "relay.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[DimExpr, ...]:
        """Parses `<n, s + 1>`."""
        dims = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_entry(parser))
        return tuple(dims)

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<n, s + 1>`."""
        with printer.in_angle_brackets():
            printer.print_string(", ".join(str(dim) for dim in self.data))

    @staticmethod
    def of(shape: Sequence[Dim]) -> DimsAttr | None:
        """Returns the encoding for `shape`, or None if no dimension has a name."""
        dynamic = tuple(dim for dim in shape if isinstance(dim, DimExpr))
        if all(dim is ANY or dim == ANY for dim in dynamic):
            return None
        return DimsAttr(dynamic)


def _parse_entry(parser: AttrParser) -> DimExpr:
    start = parser.pos
    dim = parse_dim(parser)
    if isinstance(dim, int):
        parser.raise_error(f"expected an expression over named dimensions, found the constant {dim}", start, parser.pos)
    return dim
