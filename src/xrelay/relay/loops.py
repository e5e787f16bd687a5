"""Loops of expressions, as functions that call themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xrelay.relay.expr import Expr, ExprLike, Var, as_value, tuple_of, var, view
from xrelay.relay.function import Function
from xrelay.relay.nodes import If, Let


def while_loop(
    cond: Callable[..., ExprLike], loop_vars: Sequence[ExprLike], loop_bodies: Callable[..., Sequence[ExprLike]]
) -> Expr:
    """The function that takes initial values and gives the tuple of the last ones: call it, and index the result.

    `cond(*variables)` says whether to go on, `loop_bodies(*variables)` what their next values are. `loop_vars` are
    expressions for which variables are made: of the names of those that are variables, and of their types, which may
    have to be inferred.
    """
    loop = var("while_loop")
    given = [view(as_value(each)) for each in loop_vars]
    variables = [
        Var(each.name if isinstance(each, Var) else f"arg{number}", each.type) for number, each in enumerate(given)
    ]
    body = If(cond(*variables), loop(*loop_bodies(*variables)), tuple_of(variables))
    return Let(loop, Function(variables, body), loop)
