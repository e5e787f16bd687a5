"""Loops of expressions as recursive functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xrelay.relay.expr import Expr, ExprLike, Var, as_value, tuple_of, var, view
from xrelay.relay.function import Function
from xrelay.relay.nodes import If, Let


def while_loop(
    cond: Callable[..., ExprLike], loop_vars: Sequence[ExprLike], loop_bodies: Callable[..., Sequence[ExprLike]]
) -> Expr:
    """Returns the function from initial values to the tuple of final values. Call it, and index the result.

    `cond(*variables)` returns whether to continue, `loop_bodies(*variables)` the next values. `loop_vars` are
    expressions from which the loop variables take their types, which may have to be inferred, and, if they are
    variables, their names.
    """
    loop = var("while_loop")
    given = [view(as_value(each)) for each in loop_vars]
    variables = [
        Var(each.name if isinstance(each, Var) else f"arg{number}", each.type) for number, each in enumerate(given)
    ]
    body = If(cond(*variables), loop(*loop_bodies(*variables)), tuple_of(variables))
    return Let(loop, Function(variables, body), loop)
