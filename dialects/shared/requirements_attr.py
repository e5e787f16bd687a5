"""The requirements of an op at run time, and the extents that it introduces.

`#relay.requirements<n == m "C2 in-channels">` and `#relay.bounds<k <= n>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import PunctuationSpelling

from xrelay.index_algebra.dim_syntax import parse_dim
from xrelay.index_algebra.dims import AnyDim, Dim, Symbol, single_atom, symbol
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Equal, Requirement

_NO_RELATION = "expected '==', '>=' or '<=' after the first side of a requirement"


@irdl_attr_definition
class RequirementsAttr(Data[tuple[Requirement, ...]]):
    """Requirements that are not decided by types; they are checked where the op runs.

    `#relay.requirements<n == m "C2 in-channels", k >= 1 "C3", n mod 4 == 0, broadcastable(n, k)>`: each has a relation
    of dimensions, the id of the constraint, and a short description. `k <= n` is parsed as `n >= k`.
    """

    name = "relay.requirements"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Requirement, ...]:
        """Parses `<n == m "C2 in-channels", …>`."""
        found = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_requirement(parser))
        return tuple(found)

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<n == m "C2 in-channels", …>`."""
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda requirement: _print_requirement(printer, requirement))

    @staticmethod
    def of(requirements: Iterable[Requirement]) -> RequirementsAttr | None:
        """Returns the attribute of the distinct `requirements` in canonical form, or None without requirements."""
        kept = tuple(dict.fromkeys(requirement.canonical() for requirement in requirements))
        return RequirementsAttr(kept) if kept else None


@dataclass(frozen=True)
class NewExtent:
    """A named extent that an op introduces, and its upper bound, or None if no bound is known."""

    name: str
    at_most: Dim | None = None

    @property
    def fact(self) -> AtLeast | None:
        """The bound as a fact about the name."""
        return None if self.at_most is None else AtLeast(self.at_most, symbol(self.name))

    def __str__(self) -> str:
        return self.name if self.at_most is None else f"{self.name} <= {self.at_most}"


@irdl_attr_definition
class BoundsAttr(Data[tuple[NewExtent, ...]]):
    """The named extents that an op introduces, each with its bound: `#relay.bounds<k <= n, j>`."""

    name = "relay.bounds"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[NewExtent, ...]:
        """Parses `<k <= n, j>`."""
        names = set[str]()
        extents = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_extent(parser, names))
        return tuple(extents)

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<k <= n, j>`."""
        with printer.in_angle_brackets():
            printer.print_string(", ".join(map(str, self.data)))

    @staticmethod
    def of(extents: Iterable[NewExtent]) -> BoundsAttr | None:
        """Returns the attribute of `extents`, or None without extents."""
        kept = tuple(extents)
        return BoundsAttr(kept) if kept else None


def _print_requirement(printer: Printer, requirement: Requirement) -> None:
    printer.print_string(requirement.text)
    if requirement.label:
        printer.print_string(" ")
        printer.print_string_literal(requirement.label)


def _parse_requirement(parser: AttrParser) -> Requirement:
    kind, lhs, rhs = _parse_relation(parser)
    label = parser.parse_optional_str_literal()
    constraint, _, about = (label if label is not None else "").partition(" ")
    return kind(lhs, rhs, constraint=constraint, about=about).canonical()


def _parse_relation(parser: AttrParser) -> tuple[type[Requirement], Dim, Dim]:
    if parser.parse_optional_keyword("broadcastable"):
        parser.parse_punctuation("(")
        lhs = _parse_side(parser)
        parser.parse_punctuation(",")
        rhs = _parse_side(parser)
        parser.parse_punctuation(")")
        return Broadcasts, lhs, rhs
    lhs = _parse_side(parser)
    for first in ("=", ">", "<"):
        if _parse_relation_sign(parser, first):
            rhs = _parse_side(parser)
            return (AtLeast, rhs, lhs) if first == "<" else (Equal if first == "=" else AtLeast, lhs, rhs)
    parser.raise_error(_NO_RELATION)


def _parse_relation_sign(parser: AttrParser, first: PunctuationSpelling) -> bool:
    """Parses `==`, `>=` or `<=`, which are two tokens each, if the next one is `first`."""
    if parser.parse_optional_punctuation(first) is None:
        return False
    if parser.parse_optional_punctuation("=") is None:
        parser.raise_error(_NO_RELATION)
    return True


def _parse_side(parser: AttrParser) -> Dim:
    start = parser.pos
    dim = parse_dim(parser)
    if isinstance(dim, AnyDim):
        parser.raise_error("a requirement relates named dimensions and integers, not '?'", start, parser.pos)
    return dim


def _parse_extent(parser: AttrParser, names: set[str]) -> NewExtent:
    start = parser.pos
    atom = single_atom(parse_dim(parser))
    if not isinstance(atom, Symbol):
        parser.raise_error("expected the name of an extent", start, parser.pos)
    if atom.name in names:
        parser.raise_error(f"the extent {atom.name} occurs twice", start, parser.pos)
    names.add(atom.name)
    return NewExtent(atom.name, _parse_side(parser) if _parse_relation_sign(parser, "<") else None)
