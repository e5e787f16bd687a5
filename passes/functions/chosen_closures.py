"""Decides whether a closure that a branch yields may be called in that branch, for `relay-inline`.

The call moves into copies of the branches at the position of the call. No op of the branches may run more often there.
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
"""Ops that cost nothing, however often they run."""


def choice_of(value: SSAValue) -> IfOp | None:
    """Returns the branch that yields the closure `value`, through lets, or None."""
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
    """Whether a loop or closure that contains `call`, but not `choice`, may run `call` more often."""
    op: Operation | None = call
    while op is not None and op.parent is not choice.parent:
        op = op.parent_op()
        if isinstance(op, FnOp | LoopOp):
            return True
    return False


def _is_only_use(call: InvokeOp) -> bool:
    """Whether `call` is the only use of its closure, also through lets."""
    value = call.callee
    while value.has_one_use() and isinstance(value, OpResult) and isinstance(value.op, LetOp):
        value = value.op.value
    return value.has_one_use()
