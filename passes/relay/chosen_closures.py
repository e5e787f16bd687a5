"""Whether a closure that a branch gives may be called in that branch, for `relay-inline`.

The call takes the branch to where it stands, and what the branch's closures capture is needed there. That must run
nothing twice, and nothing that may fail or not end where it did not run before.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.passes.relay.argument_needs import MayFail, used_from_around

FREE = (ConstantOp, FnOp, LetOp, TupleGetItemOp, TupleOp, YieldOp)
"""Ops that cost nothing, wherever and as often as they run."""


def choice_of(value: SSAValue) -> IfOp | None:
    """The branch that gives the closure `value`, through lets; `None` where there is none."""
    while isinstance(value, OpResult) and isinstance(value.op, LetOp):
        value = value.op.value
    return value.op if isinstance(value, OpResult) and isinstance(value.op, IfOp) else None


class ChosenCalls:
    """Decides which calls of chosen closures go into branches, asked in the order of a function's text."""

    def __init__(self):
        self.fails = MayFail()
        """Which values may fail or not end."""

    def may_move(self, call: InvokeOp, choice: IfOp) -> bool:
        """Whether `call` may be made in copies of the branches of `choice`, which gives what it calls.

        Around no more loops and closures than the choice has, that is so for its only call, and for each call where its
        branches do nothing but make closures. Elsewhere these must also capture nothing that may fail or not end: a
        loop needs what any of its branches needs.
        """
        repeats = _is_repeated(call, choice)
        if not repeats and _is_only_use(call):
            return True
        if not all(isinstance(op, FREE) for region in choice.regions for op in region.block.ops):
            return False
        return not repeats or not any(self.fails.of(value) for value in used_from_around(choice))


def _is_repeated(call: InvokeOp, choice: IfOp) -> bool:
    """Whether a loop or closure around `call` is none around `choice`, and may so run it more often."""
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
