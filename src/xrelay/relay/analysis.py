"""Questions about expressions."""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.relay.expr import Expr, Var, var_of


def post_order(*roots: SSAValue) -> list[Operation]:
    """The ops in no block that `roots` need, operands before users, each once; iterative.

    Ops that stand in a block already (of xDSL's implicit builder, say) are not entered.
    """
    order: list[Operation] = []
    done: set[Operation] = set()
    stack: list[tuple[SSAValue, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        value, ready = stack.pop()
        if not isinstance(value, OpResult) or value.op in done or value.op.parent is not None:
            continue
        if ready:
            done.add(value.op)
            order.append(value.op)
            continue
        stack.append((value, True))
        stack.extend((needed, False) for needed in reversed(captured(value.op)))
    return order


def captured(op: Operation) -> list[SSAValue]:
    """The values from outside that `op` uses: its operands, and what its regions capture."""
    if not op.regions:
        return list(op.operands)
    inside = set(op.walk())
    values = [value for inner in inside for value in inner.operands]
    return [*op.operands, *(value for value in values if _is_outside(value, inside))]


def _is_outside(value: SSAValue, inside: set[Operation]) -> bool:
    owner = value.owner
    if isinstance(owner, Operation):
        return owner not in inside
    return owner.parent_op() not in inside


def free_vars(expr: Expr) -> list[Var]:
    """The variables that `expr` uses, in the order a depth-first walk meets them."""
    found: dict[Var, None] = {}
    itself = var_of(expr.value)
    if itself is not None:
        found[itself] = None
    for op in post_order(expr.value):
        for value in captured(op):
            variable = var_of(value)
            if variable is not None:
                found[variable] = None
    return list(found)
