"""The blocks of a function as a tree: which block lies in which, where several meet, and where a value is needed.

A branch runs at most once for each run of the block around it; a closure may be called many times, and the body of a
loop runs many times. So an op may move into a branch and never into a closure or loop: what these need from outside is
needed where the closure is made, or the loop runs. Where closures are spoken of below, loops are meant too.
An op that names an extent uses the op that makes it (`name_uses.py`).
Nothing is remembered of how deep a block lies: an op that moves takes the blocks in it along.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.dialects.relay.structure.scope import outside_closures
from xrelay.passes.graph.functions import fusable_blocks
from xrelay.passes.graph.name_uses import NameUses


class Scopes:
    """The blocks of `function` in which ops are placed: its body, branches and closures, not the inside of groups."""

    def __init__(self, function: FuncOp):
        self.blocks = dict.fromkeys(fusable_blocks(function))
        """A set that keeps its order: outer blocks first."""
        self.names = NameUses(function)
        """Who names the extents that ops make."""

    def use_places(self, op: Operation) -> list[Block]:
        """The blocks that need the results of `op`, or extents that it makes, one for each use.

        For what is in closures it is the closure's block.
        """
        users = [use.operation for result in op.results for use in result.uses]
        places = (outside_closures(user, op.parent).parent for user in (*users, *self.names.of(op)))
        return [place for place in places if place is not None]

    def where_uses_meet(self, op: Operation) -> Block | None:
        """The innermost block that needs the results of `op` for all uses, closures taken whole; `None` without one."""
        target: Block | None = None
        for block in self.use_places(op):
            target = block if target is None else self.common(target, block)
            if target is op.parent:
                return target
        return target

    def blocks_in_need(self, op: Operation) -> set[Block]:
        """The blocks, from that of `op` down, each run of which needs the value of `op`, for all conditions."""
        needed = set[Block]()
        pending = self.use_places(op)
        while pending:
            block = pending.pop()
            if block in needed:
                continue
            needed.add(block)
            around = block.parent_op()
            if block is op.parent or around is None or around.parent is None:
                continue
            if all(region.block in needed for region in around.regions):
                pending.append(around.parent)
        return needed

    def may_run_in_vain(self, op: Operation) -> bool:
        """Whether no use needs the value of `op` for some conditions, so that its block runs it for nothing."""
        needed = self.blocks_in_need(op)
        return bool(needed) and op.parent not in needed

    def common(self, left: Block, right: Block) -> Block:
        """The innermost block that both blocks are or lie in; `ValueError` for blocks of different functions.

        Goes up from both in turn until one comes to where the other has been.
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
    """The block that holds the op around `block`."""
    op = block.parent_op()
    return op.parent if op is not None else None


def enclosing_op(op: Operation, home: Block | None) -> Operation:
    """The op of the block `home` that `op` is or stands in; the outermost op around it where it stands outside."""
    while op.parent is not home:
        around = op.parent_op()
        if around is None:
            return op
        op = around
    return op
