"""`#relay.dims<n, s + 1>`: the names of a tensor type's `?` dimensions, in its encoding slot."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xrelay.index_algebra.dims import ANY, Dim, DimExpr, maximum, symbol


@irdl_attr_definition
class DimsAttr(Data[tuple[DimExpr, ...]]):
    """What is known of each `?` of a tensor type, in the order of the dimensions.

    `tensor<?x3x?xf32, #relay.dims<n, n + 1>>` has shape (n, 3, n + 1); `?` inside the list is Relay's Any.

    C1: one entry for each dynamic dimension of the type (checked where the shape is read).
    """

    name = "relay.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[DimExpr, ...]:
        """Parse `<n, s + 1>`."""
        dims = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_entry(parser))
        return tuple(dims)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<n, s + 1>`."""
        with printer.in_angle_brackets():
            printer.print_string(", ".join(str(dim) for dim in self.data))

    @staticmethod
    def of(shape: Sequence[Dim]) -> DimsAttr | None:
        """The encoding for `shape`; `None` where no dimension has a name."""
        dynamic = tuple(dim for dim in shape if isinstance(dim, DimExpr))
        if all(dim is ANY or dim == ANY for dim in dynamic):
            return None
        return DimsAttr(dynamic)


def _parse_entry(parser: AttrParser) -> DimExpr:
    dim = _parse_sum(parser)
    if isinstance(dim, int):
        parser.raise_error(f"expected an expression over named dimensions, found the constant {dim}")
    return dim


def _parse_sum(parser: AttrParser) -> Dim:
    total = _parse_term(parser)
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _parse_term(parser)
        elif parser.parse_optional_punctuation("-"):
            total = total - _parse_term(parser)
        else:
            return total


def _parse_term(parser: AttrParser) -> Dim:
    value = _parse_atom(parser)
    while True:
        if parser.parse_optional_punctuation("*"):
            value = value * _parse_atom(parser)
        elif parser.parse_optional_keyword("floordiv"):
            value = value // _parse_divisor(parser)
        elif parser.parse_optional_keyword("mod"):
            value = value % _parse_divisor(parser)
        else:
            return value


def _parse_divisor(parser: AttrParser) -> Dim:
    start = parser.pos
    divisor = _parse_atom(parser)
    if divisor == 0:
        parser.raise_error("a dimension is divided by zero", start, start + 1)
    return divisor


def _parse_atom(parser: AttrParser) -> Dim:
    if parser.parse_optional_punctuation("?"):
        return ANY
    if parser.parse_optional_punctuation("-"):
        return 0 - _parse_atom(parser)
    if parser.parse_optional_punctuation("("):
        inner = _parse_sum(parser)
        parser.parse_punctuation(")")
        return inner
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if number is not None:
        return number
    name = parser.parse_identifier("expected a dimension: a name, an integer, '?' or a parenthesis")
    return _parse_maximum(parser) if name == "max" else symbol(name)


def _parse_maximum(parser: AttrParser) -> Dim:
    parser.parse_punctuation("(")
    lhs = _parse_sum(parser)
    parser.parse_punctuation(",")
    rhs = _parse_sum(parser)
    parser.parse_punctuation(")")
    return maximum(lhs, rhs)
