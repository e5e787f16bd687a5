"""Partitions expressions by patterns, and rewrites them by callbacks until nothing changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.shared.attribute_names import PARTITIONED_FROM
from xrelay.errors import InputError, PassError
from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.groups import Group, groups_of
from xrelay.passes.patterns.ir_terms import is_same
from xrelay.passes.patterns.nodes import DFPattern, FunctionPattern
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.dataflow_pattern.terms import ExprNode, ExprTerms
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, view
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule, add_function, as_function

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


MAX_REWRITES = 100
"""The number of rewrites of an expression after which callbacks are assumed to undo each other, as in Relay."""


class DFPatternCallback:
    """A rewrite of the matches of `pattern`. A subclass sets the pattern and defines `callback`."""

    pattern: DFPattern | None = None

    def __init__(self, require_type: bool = False, rewrite_once: bool = False):
        """`require_type` infers all types before; `rewrite_once` stops after a rewrite that changes something."""
        self.require_type, self.rewrite_once = require_type, rewrite_once

    def rewrite(self, expr: ExprLike | FuncOp) -> Expr | FuncOp:
        """The same as `rewrite(self, expr)`."""
        return rewrite(self, expr)

    def callback(self, pre: Expr, post: Expr, node_map: Mapping[DFPattern, Sequence[Expr]]) -> ExprLike:
        """Returns the replacement of the match `pre`. In `post` and `node_map` subexpressions are already rewritten."""
        raise InputError(f"{type(self).__name__} has no callback", help="define callback(self, pre, post, node_map)")


def rewrite(
    callbacks: DFPatternCallback | Sequence[DFPatternCallback], expr: ExprLike | FuncOp, mod: ModuleOp | None = None
) -> Expr | FuncOp:
    """Returns `expr` with the matches of each callback's pattern replaced, repeatedly until nothing changes.

    Type inference uses the functions of `mod`. For a `func.func`, returns a new one. Raises `PassError` if a hundred
    rewrites do not reach an end.
    """
    if isinstance(expr, FuncOp):
        return cast(Function, rewrite(callbacks, Function.of_func(expr), mod)).to_func(expr.sym_name.data)
    current = expr if isinstance(expr, Expr) else view(as_value(expr))
    pending = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    count, changed = 0, True
    while changed:
        before = current
        for callback in list(pending):
            start = _typed(current, mod) if callback.require_type else current
            current = _replaced(callback, start)
            if callback.rewrite_once and not _same(start, current):
                pending.remove(callback)
            count += 1
        changed = not _same(before, current)
        if changed and count >= MAX_REWRITES:
            names = ", ".join(type(callback).__name__ for callback in pending)
            raise PassError(
                f"{count} rewrites of {names} did not reach an end", help="the callbacks may undo each other's work"
            )
    return current


def _replaced(callback: DFPatternCallback, root: Expr) -> Expr:
    """Returns `root` with each match of the callback's pattern replaced once."""
    if callback.pattern is None:
        raise InputError(f"{type(callback).__name__} has no pattern", help="set self.pattern in its __init__")
    terms = ExprTerms()
    graph = NodeGraph[ExprNode](terms, [root])
    groups = groups_of(callback.pattern, graph)
    if not groups:
        return root
    made: dict[ExprNode, ExprNode] = {}
    for node in graph.index:
        made[node] = terms.rebuilt(cast(Expr, node), made.__getitem__)
        group = groups.get(node)
        if group is not None:
            found = {part: [made.get(one, one) for one in nodes] for part, nodes in group.found.items()}
            node_map = cast("dict[DFPattern, list[Expr]]", found)
            made[node] = _replacement_by(callback, cast(Expr, node), cast(Expr, made[node]), node_map)
    return cast(Expr, made[root])


def _replacement_by(
    callback: DFPatternCallback, pre: Expr, post: Expr, node_map: Mapping[DFPattern, Sequence[Expr]]
) -> Expr:
    """Returns the callback's replacement of a match. Raises `InputError` if it returns None."""
    answer = cast("ExprLike | None", callback.callback(pre, post, node_map))
    if answer is None:
        raise InputError(f"the callback of {type(callback).__name__} returned None", help="return an expression")
    return answer if isinstance(answer, Expr) else view(as_value(answer))


def _same(left: Expr, right: Expr) -> bool:
    """Returns whether two expressions have the same structure."""
    if isinstance(left, Function) and isinstance(right, Function):
        return left == right or (left.params == right.params and _same(left.body, right.body))
    return left == right or is_same(left, right)


def _typed(expr: Expr, mod: ModuleOp | None) -> Expr:
    """Returns `expr` with all types inferred, using the functions of `mod`."""
    function = as_function(expr)
    module = IRModule() if mod is None else IRModule.of(mod)
    name = add_function(module, function, "rewritten")
    infer_types(module)
    typed = module[name]
    return typed if isinstance(expr, Function) else _with_variables(typed, function)


def _with_variables(typed: Function, function: Function) -> Expr:
    """Returns the body of `typed` with the variables of `function` whose types are equal."""
    terms = ExprTerms()
    graph = NodeGraph[ExprNode](terms, [typed.body])
    made: dict[ExprNode, ExprNode] = {}
    for old, new in zip(function.params, typed.params, strict=True):
        made[new] = old if old.type == new.type else new
    for node in graph.index:
        if node not in made:
            made[node] = terms.rebuilt(cast(Expr, node), made.__getitem__)
    return cast(Expr, made[typed.body])
