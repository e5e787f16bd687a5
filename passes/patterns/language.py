"""Functions that create patterns, with Relay's names.

conv = is_op("nn.conv2d")(wildcard(), is_constant())
pattern = is_op("nn.relu")(conv.optional(lambda x: is_op("nn.bias_add")(x, is_constant())))
pattern.match(value)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xrelay.passes.patterns import ir_terms as ir_terms  # registers matching of IR values
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
    node_kind_of,
    operator,
)


def wildcard() -> WildcardPattern:
    """Returns a pattern that matches anything."""
    return WildcardPattern()


def is_var(name: str = "") -> VarPattern:
    """Returns a pattern for a variable of a name, or for any variable."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """Returns a pattern for any constant."""
    return ConstantPattern()


def is_expr(expr: object) -> ExprPattern:
    """Returns a pattern for expressions with the structure of `expr`, the same variables and equal constants."""
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """Returns a pattern for an operator, which can be called. Raises `UnknownOpError` for an unknown name."""
    return operator(op_name)


def is_tuple(fields: Sequence[DFPattern] | None) -> TuplePattern:
    """Returns a pattern for a tuple of these fields, or of any fields."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """Returns a pattern for field `index` of a tuple, or for any field."""
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern) -> IfPattern:
    """Returns a pattern for an if."""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: DFPattern, value: DFPattern, body: DFPattern) -> LetPattern:
    """Returns a pattern for a let."""
    return LetPattern(var, value, body)


def has_type(ttype: object, pattern: DFPattern | None = None) -> TypePattern:
    """Returns `pattern`, by default a wildcard, restricted to nodes of a type."""
    return _or_any(pattern).has_type(ttype)


def has_dtype(dtype: object, pattern: DFPattern | None = None) -> DataTypePattern:
    """Returns `pattern`, by default a wildcard, restricted to tensors of an element type."""
    return _or_any(pattern).has_dtype(dtype)


def has_shape(shape: Sequence[object], pattern: DFPattern | None = None) -> ShapePattern:
    """Returns `pattern`, by default a wildcard, restricted to tensors of a shape."""
    return _or_any(pattern).has_shape(shape)


def has_attr(attrs: Mapping[str, object], pattern: DFPattern | None = None) -> AttrPattern:
    """Returns `pattern`, by default a wildcard, restricted to nodes with these attributes."""
    return _or_any(pattern).has_attr(attrs)


def dominates(parent: DFPattern, path: DFPattern, child: DFPattern) -> DominatorPattern:
    """Returns a pattern for a `child` that all paths from `parent` reach through nodes that match `path`."""
    return DominatorPattern(parent, path, child)


def match(pattern: DFPattern, expr: object) -> bool:
    """Returns whether `pattern` matches `expr`."""
    return node_kind_of(expr).match(pattern, expr)


def _or_any(pattern: DFPattern | None) -> DFPattern:
    return WildcardPattern() if pattern is None else pattern
