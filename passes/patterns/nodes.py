"""The classes of the dataflow pattern language, with Relay's names.

A pattern is a graph: a pattern that occurs several times in another one has to match the same node in all places.
`language.py` has the functions that create patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import InputError, with_article


def _everything(node: object) -> bool:
    return True


class DFPattern:
    """Base of all patterns. Patterns are compared by identity."""

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The direct parts of the pattern: its attributes that are patterns or lists of patterns, in Relay's order."""
        parts: list[object] = []
        for value in vars(self).values():
            parts += cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
        return tuple(part for part in parts if isinstance(part, DFPattern))

    def __call__(self, *args: DFPattern | None) -> CallPattern:
        """Returns a pattern for a call with `args`; `pattern(None)` is a call with any arguments."""
        return CallPattern(self, None if args == (None,) else [checked(arg) for arg in args])

    def __or__(self, other: DFPattern) -> AltPattern:
        return AltPattern(self, other)

    def __add__(self, other: DFPattern) -> CallPattern:
        return operator("add")(self, other)

    def __sub__(self, other: DFPattern) -> CallPattern:
        return operator("subtract")(self, other)

    def __mul__(self, other: DFPattern) -> CallPattern:
        return operator("multiply")(self, other)

    def __truediv__(self, other: DFPattern) -> CallPattern:
        return operator("divide")(self, other)

    def has_attr(self, attrs: Mapping[str, object]) -> AttrPattern:
        """Returns this pattern, restricted to operators, calls or functions with at least these attributes."""
        return AttrPattern(self, attrs)

    def has_type(self, ttype: object) -> TypePattern:
        """Returns this pattern, restricted to nodes of a type."""
        return TypePattern(self, ttype)

    def has_dtype(self, dtype: object) -> DataTypePattern:
        """Returns this pattern, restricted to tensors of an element type."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape: Sequence[object]) -> ShapePattern:
        """Returns this pattern, restricted to tensors of a shape."""
        return ShapePattern(self, shape)

    def dominates(self, parent: DFPattern, path: DFPattern | None = None) -> DominatorPattern:
        """Returns this pattern as the end of all paths from `parent`. Their nodes match `path`, by default anything."""
        return DominatorPattern(parent, WildcardPattern() if path is None else path, self)

    def optional(self, option_constructor: Callable[[DFPattern], DFPattern]) -> AltPattern:
        """Returns this pattern or, as an alternative, the pattern that `option_constructor` makes of it."""
        return self | option_constructor(self)

    def match(self, expr: object) -> bool:
        """Returns whether the pattern matches an expression, a value of the IR or an operator."""
        return node_kind_of(expr).match(self, expr)

    def partition(
        self,
        expr: object,
        attrs: Mapping[str, object] | None = None,
        check: Callable[[object], object] = _everything,
    ) -> object:
        """Returns `expr` with a call of a new function for each match whose root `check` accepts.

        The functions have the attribute PartitionedFromPattern, the names of their ops, and `attrs`.
        """
        partition = node_kind_of(expr).partition
        if partition is None:
            raise InputError(f"{with_article(type(expr).__name__)} cannot be replaced", help="use an expression")
        return partition(self, expr, attrs, check)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.subpatterns))})"


@dataclass(eq=False, repr=False)
class ExprPattern(DFPattern):
    """An expression with the structure of a given one, or a given operator."""

    expr: object

    def __repr__(self) -> str:
        return f"ExprPattern({self.expr!r})"


class VarPattern(DFPattern):
    """A variable, with a given or any name."""

    def __init__(self, name_hint: str = ""):
        self.name = name_hint

    @property
    def name_hint(self) -> str:
        """The same as `name`."""
        return self.name

    def __repr__(self) -> str:
        return f"VarPattern({self.name!r})"


class ConstantPattern(DFPattern):
    """Any constant."""


class WildcardPattern(DFPattern):
    """Anything, or the pattern to which it is redirected, which may contain the wildcard itself."""

    def __init__(self) -> None:
        self.pattern: DFPattern | None = None

    def redirect_to(self, pat: DFPattern) -> None:
        """Redirects the wildcard to `pat`, for recursive patterns."""
        self.pattern = pat

    def __repr__(self) -> str:
        return "WildcardPattern()" if self.pattern is None else "WildcardPattern(…)"


@dataclass(eq=False, repr=False)
class CallPattern(DFPattern):
    """A call of an operator or a function; without `args`, any arguments match."""

    op: DFPattern
    args: Sequence[DFPattern] | None


@dataclass(eq=False, repr=False)
class FunctionPattern(DFPattern):
    """A function with parameters and a body; without `params`, any parameters match."""

    params: Sequence[DFPattern] | None
    body: DFPattern


@dataclass(eq=False, repr=False)
class IfPattern(DFPattern):
    """An if."""

    cond: DFPattern
    true_branch: DFPattern
    false_branch: DFPattern


@dataclass(eq=False, repr=False)
class LetPattern(DFPattern):
    """A let: a variable, its value, and the body."""

    var: DFPattern
    value: DFPattern
    body: DFPattern


@dataclass(eq=False, repr=False)
class TuplePattern(DFPattern):
    """A tuple; without `fields`, any fields match."""

    fields: Sequence[DFPattern] | None

    def __getitem__(self, index: int) -> DFPattern:
        return self.subpatterns[index]

    def __len__(self) -> int:
        return len(self.subpatterns)


class TupleGetItemPattern(DFPattern):
    """A field of a tuple; without `index`, any field matches."""

    def __init__(self, tuple_value: DFPattern, index: int | None = None):
        self.tuple, self.index = tuple_value, -1 if index is None else index


@dataclass(eq=False, repr=False)
class AltPattern(DFPattern):
    """Matches `left`, else `right`."""

    left: DFPattern
    right: DFPattern

    def __post_init__(self) -> None:
        """Raises `InputError` if an alternative is not a pattern."""
        checked(self.left)
        checked(self.right)


@dataclass(eq=False, repr=False)
class DominatorPattern(DFPattern):
    """A `child` that all paths from `parent` reach through nodes that match `path`."""

    parent: DFPattern
    path: DFPattern
    child: DFPattern


@dataclass(eq=False, repr=False)
class NarrowedPattern(DFPattern):
    """Base of patterns that restrict another pattern."""

    pattern: DFPattern


@dataclass(eq=False, repr=False)
class AttrPattern(NarrowedPattern):
    """Restricts attributes: TOpPattern of an operator, those of the operator in a call, those of a function."""

    attrs: Mapping[str, object]


class TypePattern(NarrowedPattern):
    """Restricts the type."""

    def __init__(self, pattern: DFPattern, ttype: object):
        super().__init__(pattern)
        self.type = ttype


@dataclass(eq=False, repr=False)
class DataTypePattern(NarrowedPattern):
    """Restricts the element type of a tensor."""

    dtype: object


@dataclass(eq=False, repr=False)
class ShapePattern(NarrowedPattern):
    """Restricts the shape of a tensor."""

    shape: Sequence[object]


def operator(op_name: str) -> ExprPattern:
    """Returns a pattern for an operator, which can be called. Raises `UnknownOpError` for an unknown name."""
    return ExprPattern(Op.of(get_relay_op(op_name)))


def checked(pattern: object) -> DFPattern:
    """Returns `pattern`. Raises `InputError` if it is not a pattern."""
    if not isinstance(pattern, DFPattern):
        found = with_article(type(pattern).__name__)
        raise InputError(f"{found} is not a pattern", help="is_expr(…) matches a given expression, wildcard() anything")
    return pattern


@dataclass(frozen=True)
class NodeKind:
    """The operations on a pattern and a node of one kind."""

    match: Callable[[DFPattern, object], bool]
    """Returns whether the pattern matches the node."""
    partition: Callable[[DFPattern, object, Mapping[str, object] | None, Callable[[object], object]], object] | None
    """Returns the node with matches outlined to functions; None for nodes that cannot be replaced."""


_NODE_KINDS: dict[type[object], NodeKind] = {}


def add_node_kind(kind: type[object], node_kind: NodeKind) -> None:
    """Registers nodes of the class `kind` and its subclasses."""
    _NODE_KINDS[kind] = node_kind


def node_kind_of(node: object) -> NodeKind:
    """Returns the operations for the kind of a node.

    Raises `InputError` if patterns cannot match nodes of its class.
    """
    for kind in type(node).__mro__:
        if kind in _NODE_KINDS:
            return _NODE_KINDS[kind]
    raise InputError(f"{with_article(type(node).__name__)} has no structure to match", help="use an expression")
