"""Extents of index spaces as attributes: arrays of integers if all are known, else `#topi.extents<n, 8>`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import unpack
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i64
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xrelay.index_algebra.dim_syntax import parse_dim
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, DimExpr, Shape, evaluate


@irdl_attr_definition
class ExtentsAttr(Data[tuple[Dim, ...]]):
    """Extents, at least one of them an expression over named dimensions: `#topi.extents<2 * n, 8>`.

    C1: not all are integers. C2: no extent is `?`.
    """

    name = "topi.extents"

    def verify(self) -> None:
        """Checks C1 and C2."""
        if all(isinstance(extent, int) for extent in self.data):
            raise VerifyException("[topi.extents C1] no extent has a name; write integers as array<i64: …> or i64")
        if any(isinstance(extent, AnyDim) for extent in self.data):
            raise VerifyException("[topi.extents C2] '?' is not supported: the extents of topi are integers or named")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Dim, ...]:
        """Parses `<2 * n, 8>`."""
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: parse_dim(parser)))

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<2 * n, 8>`."""
        with printer.in_angle_brackets():
            printer.print_string(", ".join(map(str, self.data)))


ExtentList: TypeAlias = DenseArrayBase[IntegerType] | ExtentsAttr
"""The type of a property with extents."""

ExtentNumber: TypeAlias = IntegerAttr | ExtentsAttr
"""The type of a property with one extent."""


def extents_attr(extents: Sequence[Dim]) -> ExtentList:
    """Extents as an attribute."""
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) == len(extents):
        return DenseArrayBase.from_list(i64, known)
    return ExtentsAttr(tuple(extents))


def extents_of(attr: ExtentList) -> Shape:
    """The extents in an attribute."""
    return numbers_in(attr) if isinstance(attr, DenseArrayBase) else attr.data


def numbers_in(attr: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The numbers in an array, usually of i64; xDSL's `get_values` checks the element type for each number."""
    if attr.elt_type != i64:
        return tuple(attr.get_values())
    return unpack(f"<{len(attr.data.data) // 8}q", attr.data.data)


def extent_attr(extent: Dim) -> ExtentNumber:
    """One extent as an attribute."""
    return IntegerAttr(extent, i64) if isinstance(extent, int) else ExtentsAttr((extent,))


def extent_in(attr: ExtentNumber) -> Dim:
    """The extent in an attribute."""
    return attr.data[0] if isinstance(attr, ExtentsAttr) else attr.value.data


def integers(extents: Sequence[Dim]) -> tuple[int, ...]:
    """The extents as integers; raises `DimensionError` for a named dimension."""
    return tuple(evaluate(extent, {}) for extent in extents)


def negative(extents: Sequence[Dim]) -> int | None:
    """The least negative static extent, or `None`."""
    return min((extent for extent in extents if isinstance(extent, int) and extent < 0), default=None)


def parse_extent(parser: Parser, what: str) -> Dim:
    """Parses an extent, an integer or an expression over named dimensions; refuses `?`."""
    position = parser.pos
    extent = parse_dim(parser)
    if extent == ANY:
        parser.raise_error(f"{what} is '?': the extents of topi are integers or named", position)
    return extent


def with_sizes(extents: ExtentList, sizes: Mapping[str, int]) -> ExtentList:
    """Extents with named dimensions replaced by their sizes."""
    if not isinstance(extents, ExtentsAttr):
        return extents
    return extents_attr([dim.substitute(sizes) if isinstance(dim, DimExpr) else dim for dim in extents.data])
