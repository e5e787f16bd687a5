"""The dataflow pattern language: Relay's patterns, by Relay's names.

A pattern is a graph of its own, whose nodes know the nodes they consist of. One that stands in several places of
another pattern has to match one and the same node in all of them. `language.py` has the functions that make patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import InputError, with_article
from xrelay.passes.patterns.worlds import world_of


def _everything(node: object) -> bool:
    return True


class DFPattern:
    """Base of all patterns. Patterns are equal where they are the same object."""

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """The patterns that this one consists of, in Relay's order."""
        return ()

    def __call__(self, *args: DFPattern | None) -> CallPattern:
        """The call of what this matches on `args`; `pattern(None)` is the call on any arguments."""
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
        """The same pattern, where operator, call or function has these attributes, and maybe others."""
        return AttrPattern(self, attrs)

    def has_type(self, ttype: object) -> TypePattern:
        """The same pattern, where the node has the type."""
        return TypePattern(self, ttype)

    def has_dtype(self, dtype: object) -> DataTypePattern:
        """The same pattern, where the node is a tensor of the element type."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape: Sequence[object]) -> ShapePattern:
        """The same pattern, where the node is a tensor of the shape."""
        return ShapePattern(self, shape)

    def dominates(self, parent: DFPattern, path: DFPattern | None = None) -> DominatorPattern:
        """The same pattern as the end of all paths from `parent`, each node of which matches `path`, by default any."""
        return DominatorPattern(parent, WildcardPattern() if path is None else path, self)

    def optional(self, option_constructor: Callable[[DFPattern], DFPattern]) -> AltPattern:
        """The same pattern, or what `option_constructor` makes of it."""
        return self | option_constructor(self)

    def match(self, expr: object) -> bool:
        """Whether the pattern matches an expression, a value of the IR or an operator."""
        return world_of(expr).match(self, expr)

    def partition(
        self,
        expr: object,
        attrs: Mapping[str, object] | None = None,
        check: Callable[[object], object] = _everything,
    ) -> object:
        """`expr` with a call of a function of its own for each match whose root `check` accepts.

        The functions have the attribute PartitionedFromPattern, the names of their ops, and `attrs`.
        """
        partition = world_of(expr).partition
        if partition is None:
            raise InputError(f"{with_article(type(expr).__name__)} cannot be replaced", help="give an expression")
        return partition(self, expr, attrs, check)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


class ExprPattern(DFPattern):
    """A given expression, up to what it is made of, or a given operator."""

    def __init__(self, expr: object):
        self.expr = expr

    def __repr__(self) -> str:
        return f"ExprPattern({self.expr!r})"


class VarPattern(DFPattern):
    """A variable, with a name or any."""

    def __init__(self, name_hint: str = ""):
        self.name = name_hint

    @property
    def name_hint(self) -> str:
        """As `name`."""
        return self.name

    def __repr__(self) -> str:
        return f"VarPattern({self.name!r})"


class ConstantPattern(DFPattern):
    """Any constant."""


class WildcardPattern(DFPattern):
    """Anything, or what it is redirected to, which may contain the wildcard itself."""

    def __init__(self) -> None:
        self.pattern: DFPattern | None = None

    def redirect_to(self, pat: DFPattern) -> None:
        """From now on match what `pat` matches; so patterns of any depth are made."""
        self.pattern = pat

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """What it is redirected to."""
        return () if self.pattern is None else (self.pattern,)

    def __repr__(self) -> str:
        return "WildcardPattern()" if self.pattern is None else "WildcardPattern(…)"


class CallPattern(DFPattern):
    """The call of an operator or a function on arguments; `args` of None are any."""

    def __init__(self, op: DFPattern, args: Sequence[DFPattern] | None):
        self.op, self.args = op, None if args is None else list(args)

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """What is called, and the arguments."""
        return (self.op, *(self.args if self.args is not None else ()))


class FunctionPattern(DFPattern):
    """A function with parameters and a body; `params` of None are any."""

    def __init__(self, params: Sequence[DFPattern] | None, body: DFPattern):
        self.params, self.body = None if params is None else list(params), body

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """The parameters and the body."""
        return (*(self.params if self.params is not None else ()), self.body)


class IfPattern(DFPattern):
    """A branch."""

    def __init__(self, cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern):
        self.cond, self.true_branch, self.false_branch = cond, true_branch, false_branch

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """Condition and both values."""
        return (self.cond, self.true_branch, self.false_branch)


class LetPattern(DFPattern):
    """A binding of a variable, with the body in which it holds."""

    def __init__(self, var: DFPattern, value: DFPattern, body: DFPattern):
        self.var, self.value, self.body = var, value, body

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """Variable, value and body."""
        return (self.var, self.value, self.body)


class TuplePattern(DFPattern):
    """A tuple; `fields` of None are any."""

    def __init__(self, fields: Sequence[DFPattern] | None):
        self.fields = None if fields is None else list(fields)

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """The fields."""
        return () if self.fields is None else tuple(self.fields)

    def __getitem__(self, index: int) -> DFPattern:
        return self.parts[index]

    def __len__(self) -> int:
        return len(self.parts)


class TupleGetItemPattern(DFPattern):
    """A field of a tuple; an `index` of None is any."""

    def __init__(self, tuple_value: DFPattern, index: int | None = None):
        self.tuple, self.index = tuple_value, -1 if index is None else index

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """The tuple."""
        return (self.tuple,)


class AltPattern(DFPattern):
    """What `left` matches, else what `right` matches."""

    def __init__(self, left: DFPattern, right: DFPattern):
        self.left, self.right = checked(left), checked(right)

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """Both."""
        return (self.left, self.right)


class DominatorPattern(DFPattern):
    """`child`, which all paths from `parent` reach, with nothing on them but what `path` matches."""

    def __init__(self, parent: DFPattern, path: DFPattern, child: DFPattern):
        self.parent, self.path, self.child = parent, path, child

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """Parent, path and child."""
        return (self.parent, self.path, self.child)


class NarrowedPattern(DFPattern):
    """Base of patterns that ask more of what another one matches."""

    def __init__(self, pattern: DFPattern):
        self.pattern = pattern

    @property
    def parts(self) -> tuple[DFPattern, ...]:
        """The pattern that is narrowed."""
        return (self.pattern,)


class AttrPattern(NarrowedPattern):
    """What has these attributes: of an operator TOpPattern, of a call the operator's, of a function its own."""

    def __init__(self, pattern: DFPattern, attrs: Mapping[str, object]):
        super().__init__(pattern)
        self.attrs = dict(attrs)


class TypePattern(NarrowedPattern):
    """What has a type."""

    def __init__(self, pattern: DFPattern, ttype: object):
        super().__init__(pattern)
        self.type = ttype


class DataTypePattern(NarrowedPattern):
    """A tensor of an element type."""

    def __init__(self, pattern: DFPattern, dtype: object):
        super().__init__(pattern)
        self.dtype = dtype


class ShapePattern(NarrowedPattern):
    """A tensor of a shape."""

    def __init__(self, pattern: DFPattern, shape: Sequence[object]):
        super().__init__(pattern)
        self.shape = list(shape)


def operator(name: str) -> ExprPattern:
    """The operator called `name`; `UnknownOpError` for none."""
    return ExprPattern(Op.of(get_relay_op(name)))


def checked(pattern: object) -> DFPattern:
    """`pattern`, which must be one; `InputError` otherwise."""
    if not isinstance(pattern, DFPattern):
        found = with_article(type(pattern).__name__)
        raise InputError(f"{found} is no pattern", help="is_expr(…) matches a given expression, wildcard() anything")
    return pattern
