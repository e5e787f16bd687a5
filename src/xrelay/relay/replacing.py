"""Replaces ops of a function by expressions of the builder, for passes written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.relay.expr import Expr, view
from xrelay.relay.graph import LetScopeOp, captured, let_binding, steps

OpT = TypeVar("OpT", bound=Operation)


def replace_each(func: FuncOp, kind: type[OpT], replacement: Callable[[Expr], Expr]) -> FuncOp:
    """Let `replacement(result)` stand for the result of every op of class `kind` in `func`, in place; gives `func`.

    What the replacement is built of goes behind the op, whose result it may use. An expression that several
    replacements share, such as a constant from outside, is copied to each of them.
    """
    for op in [op for op in func.walk() if isinstance(op, kind)]:
        old = op.results[0]
        uses = list(old.uses)
        new = insert_behind(op, replacement(view(old)).ssa_value)
        for use in uses:
            use.operation.operands[use.index] = new
    return func


def insert_behind(op: Operation, value: SSAValue) -> SSAValue:
    """Put the ops in no block that `value` needs behind `op`: itself those that use its result, of others a copy.

    Gives the value that stands for `value` there.
    """
    dependent: set[SSAValue] = {*op.results}
    copies: dict[SSAValue, SSAValue] = {}
    point = InsertPoint.after(op)
    for needed, done in steps(value):
        if isinstance(needed, LetScopeOp):
            if done:
                copies[needed.result] = copies.get(needed.scope, needed.scope)
                continue
            placed: Operation = let_binding(needed, copies.get(needed.bound, needed.bound))
            copies[needed.variable] = placed.results[0]
        elif dependent.isdisjoint(captured(needed)):
            placed = needed.clone(copies)
        else:
            placed = needed
            dependent.update(needed.results)
            for inner in needed.walk():
                inner.operands = [copies.get(operand, operand) for operand in inner.operands]
        placed.location = op.location
        Rewriter.insert_op(placed, point)
    return copies.get(value, value)
