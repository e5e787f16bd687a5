"""The functions that make patterns, by Relay's names.

conv = is_op("nn.conv2d")(wildcard(), is_constant())
pattern = is_op("nn.relu")(conv.optional(lambda x: is_op("nn.bias_add")(x, is_constant())))
pattern.match(value)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xrelay.passes.patterns import ir_match as ir_match  # so that patterns can be matched against values
from xrelay.passes.patterns.nodes import (
    AttrPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    IfPattern,
    LetPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
    operator,
)
from xrelay.passes.patterns.worlds import world_of


def wildcard() -> WildcardPattern:
    """Anything."""
    return WildcardPattern()


def is_var(name: str = "") -> VarPattern:
    """A variable: of that name, or any."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """Any constant."""
    return ConstantPattern()


def is_expr(expr: object) -> ExprPattern:
    """An expression or value that is made as `expr` is, of the same variables and equal constants."""
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """The operator of that name, to be called; `UnknownOpError` for none."""
    return operator(op_name)


def is_tuple(fields: Sequence[DFPattern] | None) -> TuplePattern:
    """A tuple of these fields, or of any."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """Field `index` of a tuple, or any field."""
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern) -> IfPattern:
    """A branch."""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: DFPattern, value: DFPattern, body: DFPattern) -> LetPattern:
    """A binding."""
    return LetPattern(var, value, body)


def has_type(ttype: object, pattern: DFPattern | None = None) -> TypePattern:
    """What `pattern` matches, by default anything, where it has the type."""
    return _or_any(pattern).has_type(ttype)


def has_dtype(dtype: object, pattern: DFPattern | None = None) -> DataTypePattern:
    """What `pattern` matches, by default anything, where it is a tensor of the element type."""
    return _or_any(pattern).has_dtype(dtype)


def has_shape(shape: Sequence[object], pattern: DFPattern | None = None) -> ShapePattern:
    """What `pattern` matches, by default anything, where it is a tensor of the shape."""
    return _or_any(pattern).has_shape(shape)


def has_attr(attrs: Mapping[str, object], pattern: DFPattern | None = None) -> AttrPattern:
    """What `pattern` matches, by default anything, where it has the attributes."""
    return _or_any(pattern).has_attr(attrs)


def dominates(parent: DFPattern, path: DFPattern, child: DFPattern) -> DominatorPattern:
    """`child`, which all paths from `parent` reach, with nothing on them but what `path` matches."""
    return DominatorPattern(parent, path, child)


def match(pattern: DFPattern, expr: object) -> bool:
    """Whether `pattern` matches `expr`."""
    return world_of(expr).match(pattern, expr)


def _or_any(pattern: DFPattern | None) -> DFPattern:
    return WildcardPattern() if pattern is None else pattern
