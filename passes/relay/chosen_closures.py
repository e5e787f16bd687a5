"""Whether a closure that a branch gives may be called in that branch, for `relay-inline`.

The call is made in a copy of the branches at its place. No op of the branches may run more often there.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp

FREE = (ConstantOp, FnOp, LetOp, TupleGetItemOp, TupleOp, YieldOp)
"""Ops that cost nothing, wherever and as often as they run."""


def choice_of(value: SSAValue) -> IfOp | None:
    """The branch that gives the closure `value`, through lets; `None` where there is none."""
    while isinstance(value, OpResult) and isinstance(value.op, LetOp):
        value = value.op.value
    return value.op if isinstance(value, OpResult) and isinstance(value.op, IfOp) else None


def may_call_in_branches(call: InvokeOp, choice: IfOp) -> bool:
    """Whether `call` may be made in copies of the branches of `choice`, whose result is the closure.

    It may if the branches only make closures, or if it is the only call and no loop or closure repeats it.
    """
    if all(isinstance(op, FREE) for region in choice.regions for op in region.block.ops):
        return True
    return _is_only_use(call) and not _is_repeated(call, choice)


def _is_repeated(call: InvokeOp, choice: IfOp) -> bool:
    """Whether a loop or closure around `call` and not around `choice` may run it more often."""
    op: Operation | None = call
    while op is not None and op.parent is not choice.parent:
        op = op.parent_op()
        if isinstance(op, FnOp | LoopOp):
            return True
    return False


def _is_only_use(call: InvokeOp) -> bool:
    """Whether nothing but `call` uses what it calls, lets on the way included."""
    value = call.callee
    while value.has_one_use() and isinstance(value, OpResult) and isinstance(value.op, LetOp):
        value = value.op.value
    return value.has_one_use()
