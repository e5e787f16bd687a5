"""Questions about expressions: their variables and order, whether they are well formed, and how much they multiply."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from xrelay.relay.expr import Expr, Var, view
from xrelay.relay.function import Function
from xrelay.relay.graph import captured, free_variables, post_order
from xrelay.relay.mac_count import products
from xrelay.relay.nodes import Let, parts

__all__ = [
    "all_vars",
    "bound_vars",
    "captured",
    "free_vars",
    "get_total_mac_number",
    "post_order",
    "post_order_visit",
    "well_formed",
]


def free_vars(expr: Expr) -> list[Var]:
    """The variables that `expr` uses and does not bind, in the order a depth-first walk meets them."""
    bound = set(expr.params) if isinstance(expr, Function) else set[Var]()
    root = expr.body if isinstance(expr, Function) else expr
    found = [view(value) for value in free_variables(root.ssa_value)]
    return [var for var in found if isinstance(var, Var) and var not in bound]


def all_vars(expr: Expr) -> list[Var]:
    """The variables that occur in `expr`, bound ones too, each once."""
    found: dict[Var, None] = {}
    post_order_visit(expr, lambda node: found.setdefault(node) if isinstance(node, Var) else None)
    return list(found)


def bound_vars(expr: Expr) -> list[Var]:
    """The variables that `expr` binds: by lets, and as parameters of functions."""
    found: dict[Var, None] = {}

    def note(node: Expr) -> None:
        if isinstance(node, Let):
            found[node.var] = None
        elif isinstance(node, Function):
            found.update(dict.fromkeys(node.params))

    post_order_visit(expr, note)
    return list(found)


def post_order_visit(expr: Expr, fvisit: Callable[[Expr], object]) -> None:
    """Call `fvisit` for every expression that `expr` consists of, parts before the whole, each once; iterative."""
    done: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done.add(node)
            fvisit(node)
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(parts(node)))


def get_total_mac_number(expr: Expr) -> int:
    """The multiplications with addition in `expr`: each op counts once, whatever calls or loops repeat it.

    `InputError` where an extent is open.
    """
    ops: dict[Operation, None] = {}

    def note(node: Expr) -> None:
        owner = None if isinstance(node, Function) else node.ssa_value.owner
        if isinstance(owner, Operation):
            ops[owner] = None

    post_order_visit(expr, note)
    return sum(map(products, ops))


def well_formed(expr: Expr) -> bool:
    """Whether every variable is bound once at most, and a function uses none that it does not bind."""
    binders: list[Var] = []

    def note(node: Expr) -> None:
        if isinstance(node, Let):
            binders.append(node.var)
        elif isinstance(node, Function):
            binders.extend(node.params)

    post_order_visit(expr, note)
    closed = not isinstance(expr, Function) or not free_vars(expr)
    return closed and len(binders) == len(set(binders))
