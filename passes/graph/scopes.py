"""The blocks of a function as a tree: which block lies in which, and where several meet.

Nothing is remembered of how deep a block lies: an op that moves takes the blocks in it along.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.passes.graph.functions import fusable_blocks


class Scopes:
    """The blocks of `function` in which ops are placed: its body, branches and closures, not the inside of groups."""

    def __init__(self, function: FuncOp):
        self.blocks = dict.fromkeys(fusable_blocks(function))
        """A set that keeps its order: outer blocks first."""

    def block_of(self, op: Operation) -> Block:
        """The block in which `op`, or the fused group around it, stands; `ValueError` outside of the function."""
        block = op.parent
        while block is not None and block not in self.blocks:
            block = enclosing(block)
        if block is None:
            raise ValueError(f"{op.name} stands outside of the function")
        return block

    def where_uses_meet(self, op: Operation) -> Block | None:
        """The innermost block that holds all uses of the results of `op`; `None` without a use."""
        target: Block | None = None
        for result in op.results:
            for use in result.uses:
                block = self.block_of(use.operation)
                target = block if target is None else self.common(target, block)
                if target is op.parent:
                    return target
        return target

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
