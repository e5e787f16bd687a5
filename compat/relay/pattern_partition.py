"""Partitions expressions: each match of a pattern becomes the body of a new function, which is called instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.shared.attribute_names import PARTITIONED_FROM
from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.groups import Group, groups_of
from xrelay.passes.patterns.nodes import DFPattern, FunctionPattern
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, view
from xrelay.relay.function import Function
from xrelay.relay.pattern_terms import ExprNode, ExprTerms

_LOG = logging.getLogger(__name__)


def partition(
    pattern: DFPattern,
    expr: ExprLike | FuncOp,
    attrs: Mapping[str, object] | None = None,
    check: Callable[[Expr], object] = lambda x: True,
) -> Expr | FuncOp:
    """Returns `expr` with a call of a new function for each match of `pattern` whose root `check` accepts.

    The functions have the attribute PartitionedFromPattern with the names of their operators, and `attrs`. For a
    `func.func`, returns a new one. A pattern that is a function matches nothing, because a function that is not called
    cannot be partitioned.
    """
    if isinstance(expr, FuncOp):
        function = partition(pattern, Function.of_func(expr), attrs, check)
        return cast(Function, function).to_func(expr.sym_name.data)
    root = expr if isinstance(expr, Expr) else view(as_value(expr))
    if isinstance(pattern, FunctionPattern):
        _LOG.warning("a function that is not called cannot be partitioned: %r", pattern)
        return root
    terms = ExprTerms()
    graph = NodeGraph[ExprNode](terms, [root])
    groups = groups_of(pattern, graph)
    made: dict[ExprNode, ExprNode] = {}
    for node in graph.index:
        group = groups.get(node)
        if group is not None and check(cast(Expr, node)):
            function = _function_of(terms, group, {} if attrs is None else attrs)
            made[node] = function(*[cast(Expr, made[value]) for value in group.inputs])
        else:
            made[node] = terms.rebuilt(cast(Expr, node), made.__getitem__)
    return cast(Expr, made[root])


def _function_of(terms: ExprTerms, group: Group[ExprNode], attrs: Mapping[str, object]) -> Function:
    """Returns the function that computes the group from its inputs."""
    params = [Var(f"FunctionVar_{number}", cast(Expr, value).type) for number, value in enumerate(group.inputs)]
    made: dict[ExprNode, ExprNode] = dict(zip(group.inputs, params, strict=True))
    for member in group.members:
        made[member] = terms.rebuilt(cast(Expr, member), lambda part: made.get(part, part))
    given = {PARTITIONED_FROM: group.name, **attrs}
    return Function(params, cast(Expr, made[group.root]), attrs=cast("dict[str, AttributeValue]", given))
