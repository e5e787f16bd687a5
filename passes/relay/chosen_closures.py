"""Whether a closure that a branch gives may be called in that branch, for `relay-inline`.

The call takes the branch to where it stands, and what the branch's closures capture is needed there. That must run
nothing twice, and nothing that may fail or not end where it did not run before.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.passes.graph.effects import may_fail_or_not_end
from xrelay.passes.infra.verify import walk_ops

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
        self._fails: dict[Operation, bool] = {}
        """Of ops that were asked for: whether they, or what they need, may fail or not end."""

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
        return not repeats or not any(self._may_fail(value) for value in _used_from_around(choice))

    def _may_fail(self, value: SSAValue) -> bool:
        """Whether computing `value` may fail or not end; each op is looked at once, what it needs before it."""
        if not isinstance(value.owner, Operation):
            return False
        pending = [value.owner]
        while pending:
            op = pending[-1]
            if op in self._fails:
                pending.pop()
                continue
            needed = {
                each.owner for each in (*op.operands, *_used_from_around(op)) if isinstance(each.owner, Operation)
            }
            unknown = [each for each in needed if each not in self._fails]
            if not unknown:
                self._fails[op] = _fails_itself(op) or any(self._fails[each] for each in needed)
            pending += unknown
        return self._fails[value.owner]


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


def _used_from_around(op: Operation) -> Iterator[SSAValue]:
    """The values from around `op` that the ops in its regions use."""
    own: set[Block] = {block for inner in walk_ops(op) for region in inner.regions for block in region.blocks}
    for inner in walk_ops(op) if own else ():
        for value in inner.operands if inner is not op else ():
            owner = value.owner
            if (owner.parent if isinstance(owner, Operation) else owner) not in own:
                yield value


def _fails_itself(op: Operation) -> bool:
    """Whether `op` itself, or an op in its branches, may fail or not end; making a closure calls nothing."""
    if isinstance(op, FnOp):
        return False
    holders = [op]
    for holder in holders:
        if may_fail_or_not_end(holder):
            return True
        blocks = (block for region in holder.regions for block in region.blocks)
        holders += [inner for block in blocks for inner in block.ops if not isinstance(inner, FnOp)]
    return False
