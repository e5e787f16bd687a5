"""`check_basic_block_normal_form`: checks that each expression belongs to one scope."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from xrelay.errors import InputError
from xrelay.relay.branch_scopes import Scope
from xrelay.relay.expr import Expr, Var
from xrelay.relay.function import Function
from xrelay.relay.nodes import Constant, GlobalVar, If, Let, parts


def check_basic_block_normal_form(expr: Expr) -> bool:
    """Returns True if `expr` is in basic block normal form; else raises `InputError`.

    An expression used in several branches or functions must also be used in the enclosing scope, or be bound there by a
    let. Bound variables, constants and function names may be used anywhere. A function inside an expression has copies
    of the expressions that it uses.
    """
    nodes = _post_order(expr)
    bound = _bound(nodes)
    uses: dict[Expr, list[Scope]] = {expr: [Scope()]}
    for node in reversed(nodes):
        used = uses[node]
        scope = reduce(Scope.common, used)
        if scope not in used and node not in bound and not isinstance(node, Constant | GlobalVar):
            raise InputError(
                f"{node!r} is used in several scopes, but not in their common scope",
                help="bind it with a let, or run transform.ToBasicBlockNormalForm",
            )
        for operand, inner in _scopes_of_operands(node, scope):
            uses.setdefault(operand, []).append(inner)
    return True


def _post_order(expr: Expr) -> list[Expr]:
    """Returns all subexpressions of `expr`, each once, in post-order; iterative."""
    order: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.setdefault(node)
        elif node not in order:
            stack.append((node, True))
            stack += [(operand, False) for operand in reversed(parts(node))]
    return list(order)


def _bound(nodes: list[Expr]) -> set[Expr]:
    """Returns the variables that lets and functions among `nodes` bind."""
    bound: set[Expr] = set()
    for node in nodes:
        if isinstance(node, Let):
            bound.add(node.var)
        elif isinstance(node, Function):
            bound.update(node.params)
            bound.update([node.itself] if isinstance(node.itself, Var) else [])
    return bound


def _scopes_of_operands(node: Expr, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
    """Yields each direct subexpression of `node`, which is in `scope`, with the scope of its use."""
    if isinstance(node, If):
        yield node.cond, scope
        yield node.true_branch, scope.inner()
        yield node.false_branch, scope.inner()
    elif isinstance(node, Function):
        inner = scope.inner()
        yield from ((operand, inner) for operand in parts(node))
    else:
        yield from ((operand, scope) for operand in parts(node))
