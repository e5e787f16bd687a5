"""Relay's dataflow patterns, by Relay's names: `from xrelay.relay.dataflow_pattern import *`.

x, w = wildcard(), wildcard()
pattern = is_op("nn.relu")(is_op("nn.conv2d")(x, w))
pattern.match(expr)
pattern.partition(expr, {"Composite": "conv_relu"})

class Halve(DFPatternCallback):
    def __init__(self):
        super().__init__()
        self.x = wildcard()
        self.pattern = self.x / is_expr(relay.const(2.0))

    def callback(self, pre, post, node_map):
        return node_map[self.x][0] * relay.const(0.5)

rewrite(Halve(), expr)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.func import FuncOp

from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.language import (
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    wildcard,
)
from xrelay.passes.patterns.matcher import Matcher
from xrelay.passes.patterns.nodes import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    NodeKind,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
    add_node_kind,
)
from xrelay.relay.dataflow_pattern.rewrites import DFPatternCallback, partition, rewrite
from xrelay.relay.dataflow_pattern.terms import ExprNode, ExprTerms
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.nodes import Op

__all__ = [
    "AltPattern",
    "AttrPattern",
    "CallPattern",
    "ConstantPattern",
    "DFPattern",
    "DFPatternCallback",
    "DataTypePattern",
    "DominatorPattern",
    "ExprPattern",
    "FunctionPattern",
    "IfPattern",
    "LetPattern",
    "ShapePattern",
    "TupleGetItemPattern",
    "TuplePattern",
    "TypePattern",
    "VarPattern",
    "WildcardPattern",
    "dominates",
    "has_attr",
    "has_dtype",
    "has_shape",
    "has_type",
    "is_constant",
    "is_expr",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "match",
    "partition",
    "rewrite",
    "wildcard",
]


def _matches(pattern: DFPattern, node: object) -> bool:
    found = Function.of_func(node) if isinstance(node, FuncOp) else cast(ExprNode, node)
    return Matcher(NodeGraph[ExprNode](ExprTerms(), [found])).match(pattern, found)


def _partition(
    pattern: DFPattern, node: object, attrs: Mapping[str, object] | None, check: Callable[[Expr], object]
) -> object:
    return partition(pattern, cast("Expr | FuncOp", node), attrs, check)


for _kind in (Expr, Op, FuncOp):
    add_node_kind(_kind, NodeKind(_matches, _partition))
