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

wildcard = WildcardPattern
is_var = VarPattern
is_constant = ConstantPattern
is_expr = ExprPattern
is_op = operator
is_tuple = TuplePattern
is_tuple_get_item = TupleGetItemPattern
is_if = IfPattern
is_let = LetPattern
dominates = DominatorPattern


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


def match(pattern: DFPattern, expr: object) -> bool:
    """Returns whether `pattern` matches `expr`."""
    return node_kind_of(expr).match(pattern, expr)


def _or_any(pattern: DFPattern | None) -> DFPattern:
    return WildcardPattern() if pattern is None else pattern
