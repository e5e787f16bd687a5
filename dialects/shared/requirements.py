"""The requirements of an op at run time, and the extents that it introduces, recorded as attributes of the op.

`#relay.requirements<n == m "C2 in-channels">` and `#relay.bounds<k <= n>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffectKind, Pure
from xdsl.utils.mlir_lexer import PunctuationSpelling

from xrelay.dialects.shared.attribute_names import BINDS, DEMANDS, REQUIRES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import sources_of
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


def requirements_of(op: Operation) -> tuple[Requirement, ...]:
    """Returns the requirements on named dimensions where `op` runs."""
    recorded = op.attributes.get(REQUIRES)
    return recorded.data if recorded is not None and isinstance(recorded, RequirementsAttr) else ()


def record_requirements(op: Operation, requirements: Iterable[Requirement]) -> None:
    """Replaces the requirements of `op`."""
    _set(op, REQUIRES, RequirementsAttr.of(requirements))


class OpRequirements(NamedTuple):
    """The requirements of an op in a kernel, as recorded on the call of the kernel."""

    op: str
    requirements: tuple[Requirement, ...]
    sources: Attribute | None
    """The model nodes from which the op originates."""


def kernel_requirements_of(call: Operation) -> list[OpRequirements]:
    """Returns the requirements of the ops in the kernel that `call` runs."""
    rows = call.attributes.get(DEMANDS)
    found: list[OpRequirements] = []
    for row in rows if is_attribute(rows, ArrayAttr[DictionaryAttr]) else ():
        name, requires = row.data.get("op"), row.data.get("requires")
        if isinstance(name, StringAttr) and isinstance(requires, RequirementsAttr):
            found.append(OpRequirements(name.data, requires.data, row.data.get("sources")))
    return found


def all_requirements(op: Operation) -> list[OpRequirements]:
    """Returns the requirements of `op` and those of the ops in the kernel that it calls."""
    return [OpRequirements(op.name, requirements_of(op), sources_of(op)), *kernel_requirements_of(op)]


def new_extents(op: Operation) -> tuple[NewExtent, ...]:
    """Returns the named extents that `op` introduces."""
    recorded = op.attributes.get(BINDS)
    return recorded.data if recorded is not None and isinstance(recorded, BoundsAttr) else ()


def record_extents(op: Operation, extents: Iterable[NewExtent]) -> None:
    """Replaces the named extents that `op` introduces."""
    _set(op, BINDS, BoundsAttr.of(extents))


class PureExceptNames(Pure):
    """An op without side effects, except that it may introduce names of extents that other ops use.

    Ops that introduce names have a memory effect, so that passes without support for names neither erase nor merge
    them.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        """Returns a write effect, for the names, if the op introduces extents."""
        return _NAMES if BINDS in op.attributes else frozenset[EffectInstance]()


_NAMES = frozenset((EffectInstance(MemoryEffectKind.WRITE),))


def _set(op: Operation, name: str, attribute: Attribute | None) -> None:
    if attribute is not None:
        op.attributes[name] = attribute
    else:
        op.attributes.pop(name, None)
