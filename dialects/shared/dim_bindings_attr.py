"""`#relay.dim_bindings<n = 2 * m, k = 4>`: binds the names of a callee to dimensions of its caller."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xrelay.index_algebra.dim_syntax import parse_dim
from xrelay.index_algebra.dims import AnyDim, Dim, Symbol, single_atom


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
