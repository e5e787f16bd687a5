"""The blocks of a function as a tree, and the least common ancestor of the uses of an op.

A branch runs at most once for each run of the block around it; a closure may be called many times, and the body of a
loop runs many times. So an op may move into a branch and never into a closure or loop: a use inside of one counts as a
use by the closure or loop. An op that names an extent uses the op that makes it (`name_uses.py`). The depth of a block
is not stored, because an op that moves takes its blocks along.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.dialects.relay.structure.scope import outside_closures
from xrelay.passes.graph.functions import fusable_blocks
from xrelay.passes.graph.name_uses import NameUses


class Scopes:
    """The blocks of `function` in which ops are placed: its body, branches and closures, without bodies of groups."""

    def __init__(self, function: FuncOp):
        self.blocks = dict.fromkeys(fusable_blocks(function))
        """An ordered set, outer blocks first."""
        self._names = NameUses(function)

    def where_uses_meet(self, op: Operation) -> Block | None:
        """Returns the innermost block that contains all uses of `op` and of its extents, or None without uses."""
        target: Block | None = None
        users = [use.operation for result in op.results for use in result.uses]
        for user in (*users, *self._names.of(op)):
            block = outside_closures(user, op.parent).parent
            if block is not None:
                target = block if target is None else self.common(target, block)
            if target is op.parent:
                return target
        return target

    def common(self, left: Block, right: Block) -> Block:
        """Returns the innermost block that is or contains both blocks; `ValueError` for blocks of different functions.

        Climbs from both in turn until one reaches a block that the other has passed.
        """
        if left is right:
            return left
        ends: list[Block | None] = [left, right]
        passed: tuple[set[Block], set[Block]] = (set(), set())
        while any(ends):
            for side, end in enumerate(ends):
                if end is None:
                    continue
                if end in passed[1 - side]:
                    return end
                passed[side].add(end)
                ends[side] = enclosing(end)
        raise ValueError("blocks of different functions")


def enclosing(block: Block) -> Block | None:
    """Returns the block that contains the op around `block`."""
    op = block.parent_op()
    return op.parent if op is not None else None


def enclosing_op(op: Operation, block: Block | None) -> Operation:
    """Returns the op of `block` that is or contains `op`, or the outermost op around `op` if not in `block`."""
    while op.parent is not block:
        around = op.parent_op()
        if around is None:
            return op
        op = around
    return op
