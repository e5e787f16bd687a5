"""The classes of the dataflow pattern language, with Relay's names.

A pattern is a graph: a pattern that occurs several times in another one has to match the same node in all places.
`language.py` has the functions that create patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import InputError, with_article


def _everything(node: object) -> bool:
    return True


class DFPattern:
    """Base of all patterns. Patterns are compared by identity."""

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The direct parts of the pattern, in Relay's order."""
        return ()

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


class ExprPattern(DFPattern):
    """An expression with the structure of a given one, or a given operator."""

    def __init__(self, expr: object):
        self.expr = expr

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

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The pattern to which it is redirected."""
        return () if self.pattern is None else (self.pattern,)

    def __repr__(self) -> str:
        return "WildcardPattern()" if self.pattern is None else "WildcardPattern(…)"


class CallPattern(DFPattern):
    """A call of an operator or a function; without `args`, any arguments match."""

    def __init__(self, op: DFPattern, args: Sequence[DFPattern] | None):
        self.op, self.args = op, None if args is None else list(args)

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The callee and the arguments."""
        return (self.op, *(self.args if self.args is not None else ()))


class FunctionPattern(DFPattern):
    """A function with parameters and a body; without `params`, any parameters match."""

    def __init__(self, params: Sequence[DFPattern] | None, body: DFPattern):
        self.params, self.body = None if params is None else list(params), body

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The parameters and the body."""
        return (*(self.params if self.params is not None else ()), self.body)


class IfPattern(DFPattern):
    """An if."""

    def __init__(self, cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern):
        self.cond, self.true_branch, self.false_branch = cond, true_branch, false_branch

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The condition and both branches."""
        return (self.cond, self.true_branch, self.false_branch)


class LetPattern(DFPattern):
    """A let: a variable, its value, and the body."""

    def __init__(self, var: DFPattern, value: DFPattern, body: DFPattern):
        self.var, self.value, self.body = var, value, body

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The variable, the value and the body."""
        return (self.var, self.value, self.body)


class TuplePattern(DFPattern):
    """A tuple; without `fields`, any fields match."""

    def __init__(self, fields: Sequence[DFPattern] | None):
        self.fields = None if fields is None else list(fields)

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The fields."""
        return () if self.fields is None else tuple(self.fields)

    def __getitem__(self, index: int) -> DFPattern:
        return self.subpatterns[index]

    def __len__(self) -> int:
        return len(self.subpatterns)


class TupleGetItemPattern(DFPattern):
    """A field of a tuple; without `index`, any field matches."""

    def __init__(self, tuple_value: DFPattern, index: int | None = None):
        self.tuple, self.index = tuple_value, -1 if index is None else index

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The tuple."""
        return (self.tuple,)


class AltPattern(DFPattern):
    """Matches `left`, else `right`."""

    def __init__(self, left: DFPattern, right: DFPattern):
        self.left, self.right = checked(left), checked(right)

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """Both alternatives."""
        return (self.left, self.right)


class DominatorPattern(DFPattern):
    """A `child` that all paths from `parent` reach through nodes that match `path`."""

    def __init__(self, parent: DFPattern, path: DFPattern, child: DFPattern):
        self.parent, self.path, self.child = parent, path, child

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The parent, the path and the child."""
        return (self.parent, self.path, self.child)


class NarrowedPattern(DFPattern):
    """Base of patterns that restrict another pattern."""

    def __init__(self, pattern: DFPattern):
        self.pattern = pattern

    @property
    def subpatterns(self) -> tuple[DFPattern, ...]:
        """The restricted pattern."""
        return (self.pattern,)


class AttrPattern(NarrowedPattern):
    """Restricts attributes: TOpPattern of an operator, those of the operator in a call, those of a function."""

    def __init__(self, pattern: DFPattern, attrs: Mapping[str, object]):
        super().__init__(pattern)
        self.attrs = dict(attrs)


class TypePattern(NarrowedPattern):
    """Restricts the type."""

    def __init__(self, pattern: DFPattern, ttype: object):
        super().__init__(pattern)
        self.type = ttype


class DataTypePattern(NarrowedPattern):
    """Restricts the element type of a tensor."""

    def __init__(self, pattern: DFPattern, dtype: object):
        super().__init__(pattern)
        self.dtype = dtype


class ShapePattern(NarrowedPattern):
    """Restricts the shape of a tensor."""

    def __init__(self, pattern: DFPattern, shape: Sequence[object]):
        super().__init__(pattern)
        self.shape = list(shape)


def operator(name: str) -> ExprPattern:
    """Returns a pattern for an operator. Raises `UnknownOpError` for an unknown name."""
    return ExprPattern(Op.of(get_relay_op(name)))


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
    """Returns the world of a node. Raises `InputError` if patterns cannot match nodes of its class."""
    for kind in type(node).__mro__:
        if kind in _NODE_KINDS:
            return _NODE_KINDS[kind]
    raise InputError(f"{with_article(type(node).__name__)} has no structure to match", help="use an expression")
