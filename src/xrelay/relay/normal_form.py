"""`check_basic_block_normal_form`: whether each expression has a scope of its own to be computed in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from xrelay.errors import InputError
from xrelay.relay.branch_scopes import Scope
from xrelay.relay.expr import Expr, Var
from xrelay.relay.function import Function
from xrelay.relay.nodes import Constant, GlobalVar, If, Let, parts


def check_basic_block_normal_form(expr: Expr) -> bool:
    """Whether `expr` is in basic block normal form; `InputError` where it is not.

    An expression that several branches, or functions, use must also be used in the scope around them, or a let must
    bind it there: otherwise no scope is its own. Variables that something binds, constants and names of functions may
    be used anywhere. A function inside of an expression has copies of what it uses.
    """
    nodes = _parts_first(expr)
    bound = _bound(nodes)
    uses: dict[Expr, list[Scope]] = {expr: [Scope()]}
    for node in reversed(nodes):
        used = uses[node]
        scope = reduce(Scope.common, used)
        if scope not in used and node not in bound and not isinstance(node, Constant | GlobalVar):
            raise InputError(
                f"{node!r} is used in several scopes and in none of its own",
                help="bind it with a let, or run transform.ToBasicBlockNormalForm",
            )
        for part, inner in _scopes_of_parts(node, scope):
            uses.setdefault(part, []).append(inner)
    return True


def _parts_first(expr: Expr) -> list[Expr]:
    """All that `expr` consists of, each once, parts before the whole; iterative."""
    order: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.setdefault(node)
        elif node not in order:
            stack.append((node, True))
            stack += [(part, False) for part in reversed(parts(node))]
    return list(order)


def _bound(nodes: list[Expr]) -> set[Expr]:
    """The variables that lets and functions among `nodes` bind."""
    bound: set[Expr] = set()
    for node in nodes:
        if isinstance(node, Let):
            bound.add(node.var)
        elif isinstance(node, Function):
            bound.update(node.params)
            bound.update([node.itself] if isinstance(node.itself, Var) else [])
    return bound


def _scopes_of_parts(node: Expr, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
    """What `node`, in `scope`, consists of, with the scope that it is used in."""
    if isinstance(node, If):
        yield node.cond, scope
        yield node.true_branch, scope.inner()
        yield node.false_branch, scope.inner()
    elif isinstance(node, Function):
        inner = scope.inner()
        yield from ((part, inner) for part in parts(node))
    else:
        yield from ((part, scope) for part in parts(node))
