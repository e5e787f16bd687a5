"""`#relay.dims<n, s + 1>`, the names of a tensor type's `?` dimensions, in its encoding, and `#relay.dim_bindings`.

`#relay.dim_bindings<n = 2 * m, k = 4>` binds the names of a callee to dimensions of its caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xrelay.index_algebra.dim_syntax import parse_dim
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, DimExpr, Symbol, single_atom


@irdl_attr_definition
class DimsAttr(Data[tuple[DimExpr, ...]]):
    """The expression for each `?` of a tensor type, in the order of the dimensions.

    `tensor<?x3x?xf32, #relay.dims<n, n + 1>>` has shape (n, 3, n + 1); `?` inside the list is Relay's Any.

    C1: one entry for each dynamic dimension of the type (checked when a text or the shape is read).
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


@irdl_attr_definition
class DimBindingsAttr(Data[tuple[tuple[str, Dim], ...]]):
    """Binds distinct names to dimensions: `#relay.dim_bindings<n = 2 * m, k = 4>`."""

    name = "relay.dim_bindings"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, Dim], ...]:
        """Parses `<n = 2 * m, k = 4>`."""
        names = set[str]()
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_binding(parser, names)))

    @staticmethod
    def parse_optional(parser: AttrParser) -> DimBindingsAttr | None:
        """Parses `<n = 2 * m, k = 4>` if the next token is `<`."""
        names = set[str]()
        found = parser.parse_optional_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: _parse_binding(parser, names)
        )
        return None if found is None else DimBindingsAttr(tuple(found))

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<n = 2 * m, k = 4>`."""
        with printer.in_angle_brackets():
            printer.print_string(", ".join(f"{name} = {dim}" for name, dim in self.data))

    @staticmethod
    def of(bindings: Mapping[str, Dim]) -> DimBindingsAttr:
        """Returns the attribute for `bindings`, in their order."""
        return DimBindingsAttr(tuple(bindings.items()))

    @property
    def mapping(self) -> dict[str, Dim]:
        """The dimension of each name."""
        return dict(self.data)


def _parse_binding(parser: AttrParser, names: set[str]) -> tuple[str, Dim]:
    start = parser.pos
    atom = single_atom(parse_dim(parser))
    if not isinstance(atom, Symbol):
        parser.raise_error("expected the name of a dimension", start, parser.pos)
    if atom.name in names:
        parser.raise_error(f"the dimension {atom.name} is bound twice", start, parser.pos)
    names.add(atom.name)
    parser.parse_punctuation("=")
    start = parser.pos
    dim = parse_dim(parser)
    if isinstance(dim, AnyDim):
        parser.raise_error(f"{atom.name} must be bound to a named dimension or an integer, not '?'", start, parser.pos)
    return atom.name, dim
