"""Whether a call may be replaced by the body of what it calls, for `relay-inline`: arguments are computed by value.

A call computes its arguments whether the callee looks at them or not, and a closure has computed what it captures; in a
body that takes its place what nobody needs is not computed. The same comes of it unless an argument that fails, or does
not end, is one that the body can do without.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.passes.graph.effects import may_fail_or_not_end
from xrelay.passes.infra.verify import walk_ops


class MayFail:
    """Of values: whether computing them may fail or not end; asked in the order of a function's text."""

    def __init__(self):
        self._fails: dict[Operation, bool] = {}
        """Of ops that were asked for: whether they, or what they need, may fail or not end."""

    def of(self, value: SSAValue) -> bool:
        """Whether computing `value` may fail or not end; each op is looked at once, what it needs before it."""
        if not isinstance(value.owner, Operation):
            return False
        pending = [value.owner]
        while pending:
            op = pending[-1]
            if op in self._fails:
                pending.pop()
                continue
            needed = {each.owner for each in (*op.operands, *used_from_around(op)) if isinstance(each.owner, Operation)}
            unknown = [each for each in needed if each not in self._fails]
            if not unknown:
                self._fails[op] = _fails_itself(op) or any(self._fails[each] for each in needed)
            pending += unknown
        return self._fails[value.owner]


def unneeded_arguments(
    body: Block, arguments: Sequence[SSAValue], parameters: Sequence[SSAValue], fails: MayFail
) -> list[SSAValue]:
    """Those of the `arguments` for its `parameters` that may fail or not end, and without which `body` may end."""
    pairs = [each for each in zip(arguments, parameters, strict=True) if fails.of(each[0])]
    if not pairs:
        return []
    needed = needed_by_the_end(body)
    return [argument for argument, parameter in pairs if parameter not in needed]


def needed_by_the_end(body: Block) -> set[SSAValue]:
    """What is computed whenever what `body` gives is; of a branch the condition."""
    last = body.last_op
    needed: set[SSAValue] = set() if last is None else set(last.operands)
    pending = list(needed)
    while pending:
        value = pending.pop()
        if not isinstance(value, OpResult) or value.op.parent is not body:
            continue
        around = () if isinstance(value.op, IfOp) else used_from_around(value.op)
        new = {each for each in (*value.op.operands, *around) if each not in needed}
        needed |= new
        pending += new
    return needed


def used_from_around(op: Operation) -> Sequence[SSAValue]:
    """The values from around `op` that the ops in its regions use."""
    if not op.regions:
        return ()
    own: set[Block] = {block for inner in walk_ops(op) for region in inner.regions for block in region.blocks}
    used = (value for inner in walk_ops(op) if inner is not op for value in inner.operands)
    return [value for value in used if _block_of(value) not in own]


def _block_of(value: SSAValue) -> Block | None:
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


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
