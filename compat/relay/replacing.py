"""Replaces ops of a function by expressions of the builder, for passes written in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import InputError
from xrelay.relay.branch_scopes import scopes_of_inner_lets
from xrelay.relay.expr import Expr, view
from xrelay.relay.graph import LetScopeOp, captured, let_binding, steps

OpT = TypeVar("OpT", bound=Operation)


def replace_each(func: FuncOp, kind: type[OpT], replacement: Callable[[Expr], Expr]) -> FuncOp:
    """Replaces the result of each op of class `kind` in `func` by `replacement(result)`, in place; returns `func`.

    The ops of the replacement are inserted after the op, whose result they may use. An expression that several
    replacements share, such as a constant, is copied for each of them.
    """
    for op in [op for op in func.walk() if isinstance(op, kind)]:
        old = op.results[0]
        uses = list(old.uses)
        new = insert_after(op, replacement(view(old)).ssa_value)
        for use in uses:
            use.operation.operands[use.index] = new
    return func


def insert_after(op: Operation, value: SSAValue) -> SSAValue:
    """Inserts the ops in no block that `value` needs after `op`; returns the value that replaces `value` there.

    Ops that depend on results of `op` are inserted themselves, others as copies.
    """
    return _insert(op, value, InsertPoint.after(op), {*op.results}, {})


def insert_before(op: Operation, value: SSAValue, known: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """Inserts copies of the ops in no block that `value` needs before `op`; returns the copy of `value`.

    `known` maps variables to values.
    """
    return _insert(op, value, InsertPoint.before(op), set(), dict(known))


def copies_of(values: Sequence[SSAValue], known: dict[SSAValue, SSAValue]) -> list[Operation]:
    """Returns copies of the ops in no block that `values` need, in order. `known` maps values to their copies.

    Ops whose results are in `known` are not copied; copies are added to it. Raises `InputError` for a let.
    """
    made: list[Operation] = []
    for needed, _ in steps(*values):
        if isinstance(needed, LetScopeOp):
            raise InputError("the replacement of an op binds a variable", help="use the value instead")
        if needed.results[0] not in known:
            made.append(_copied(needed, known))
    return made


def _insert(
    op: Operation, value: SSAValue, point: InsertPoint, dependent: set[SSAValue], copies: dict[SSAValue, SSAValue]
) -> SSAValue:
    """Inserts the ops that `value` needs at `point`: those that use `dependent` values themselves, others as copies."""
    order = list(steps(value))
    if scopes_of_inner_lets(order, [value]) is not None:
        hint = "bind it outside of the branch, or use the value instead"
        raise InputError("the replacement of an op binds a variable in a branch", help=hint)
    for needed, done in order:
        if isinstance(needed, LetScopeOp):
            if done:
                copies[needed.result] = copies.get(needed.scope, needed.scope)
                continue
            inserted: Operation = let_binding(needed, copies.get(needed.bound, needed.bound))
            copies[needed.variable] = inserted.results[0]
        elif dependent.isdisjoint(captured(needed)):
            inserted = _copied(needed, copies)
        else:
            inserted = needed
            dependent.update(needed.results)
            for inner in needed.walk():
                inner.operands = [copies.get(operand, operand) for operand in inner.operands]
        inserted.location = op.location
        Rewriter.insert_op(inserted, point)
    return copies.get(value, value)


def _copied(op: Operation, copies: dict[SSAValue, SSAValue]) -> Operation:
    """Returns a copy of `op` on the copies of its operands; infers its type if only theirs are complete."""
    operands = [copies.get(operand, operand) for operand in op.operands]
    if not isinstance(op, RelayOp) or op.regions or all(map(is_complete, op.result_types)):
        return op.clone(copies)
    if not all(is_complete(operand.type) for operand in operands):
        return op.clone(copies)
    made = type(op).typed(operands, op.properties)
    made.attributes.update(op.attributes)
    copies.update(zip(op.results, made.results, strict=True))
    return made
